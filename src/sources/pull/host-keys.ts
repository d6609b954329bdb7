import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

export interface KnownKey {
  type: string
  key: Buffer
}

/** As OpenSSH prints it: `SHA256:` and 43 characters. */
export function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** The type that stands at the beginning of a public key, such as `ssh-ed25519`. */
export function typeOfKey(key: Buffer): string {
  const length = key.length < 4 ? 0 : key.readUInt32BE(0)
  return key.subarray(4, 4 + Math.min(length, 64)).toString('latin1')
}

/** Signature algorithms that a server with a key of this type can be asked for. */
export function algorithmsOf(type: string): readonly string[] {
  return type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'] : [type]
}

/**
 * The keys of a host in a text of the form of `known_hosts`: plain and hashed names, `[host]:port`, patterns, and lines
 * that are negated or revoked. Lines of certificate authorities are passed over.
 */
export function readKnownKeys(text: string, { host, port }: { host: string; port: number }): KnownKey[] {
  const name = port === 22 ? host : `[${host}]:${port}`
  const lines = text
    .split('\n')
    .map(parseLine)
    .filter((line) => line !== undefined)
  const matching = lines.filter(({ names }) => matches(names, name.toLowerCase()))
  const revoked = matching.filter(({ marker }) => marker === '@revoked')
  return matching.filter(
    ({ marker, key }) => marker === '' && !revoked.some((other) => other.key.equals(key)),
  )
}

function parseLine(line: string): (KnownKey & { marker: string; names: string[] }) | undefined {
  const parts = line.trim().split(/\s+/)
  const marker = parts[0]?.startsWith('@') ? (parts.shift() ?? '') : ''
  const [names, type, base64] = parts
  if (!names || names.startsWith('#') || !type || !base64) return undefined
  return { marker, names: names.split(','), type, key: Buffer.from(base64, 'base64') }
}

function matches(patterns: readonly string[], name: string): boolean {
  if (patterns.some((pattern) => pattern.startsWith('!') && matchesOne(pattern.slice(1), name))) return false
  return patterns.some((pattern) => !pattern.startsWith('!') && matchesOne(pattern, name))
}

function matchesOne(pattern: string, name: string): boolean {
  const [, salt, hash] = /^\|1\|([^|]+)\|([^|]+)$/.exec(pattern) ?? []
  if (salt !== undefined && hash !== undefined) {
    const wanted = Buffer.from(hash, 'base64')
    const found = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest()
    return wanted.length === found.length && timingSafeEqual(wanted, found)
  }
  const escaped = pattern.toLowerCase().replace(/[.+^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`).test(name)
}
