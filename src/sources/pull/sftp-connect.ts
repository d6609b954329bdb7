import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import type SftpClient from 'ssh2-sftp-client'
import type { SftpSource } from '../../config/model.ts'
import { describeError, systemErrorCode } from '../../lib/errors.ts'
import { algorithmsOf, fingerprintOf, type KnownKey, readKnownKeys, typeOfKey } from './host-keys.ts'
import { PullError } from './pull-error.ts'

export interface SftpConnection {
  client: SftpClient
  socket: Socket
}

interface Connecting {
  source: SftpSource
  silenceMs: number
  signal: AbortSignal
}

/** Strongest first. A server has one key of a type, and shows the first type that both sides know. */
const keyTypes = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
]

/**
 * Connects to a server whose key is one of those that are expected, and logs in there. No credential is sent before. A
 * server may have several keys: while it shows another one it is asked for the next type.
 */
export async function connectSftp(options: Connecting): Promise<SftpConnection> {
  const expected = await expectedKeys(options.source)
  let types = expected.types
  const shown: Buffer[] = []
  while (types.length > 0) {
    const outcome = await tryConnect(options, { types, accepts: expected.accepts })
    if ('client' in outcome) return outcome
    const { refusedKey, error } = outcome
    if (refusedKey === undefined) {
      // It has no key of the types that are left.
      if (shown.length > 0) break
      throw loginError(options.source, error)
    }
    shown.push(refusedKey)
    types = types.filter((type) => type !== typeOfKey(refusedKey))
  }
  throw foreignKey(options.source, shown)
}

interface Expected {
  types: readonly string[]
  accepts: (key: Buffer) => boolean
}

async function expectedKeys(source: SftpSource): Promise<Expected> {
  const { hostKeys, knownHostsFile, port } = source
  if (knownHostsFile === undefined) {
    const wanted = hostKeys.map((hostKey) => hostKey.replace(/=+$/, ''))
    return { types: keyTypes, accepts: (key) => wanted.includes(fingerprintOf(key)) }
  }
  const host = source.host.value()
  const text = await readLocal(knownHostsFile, 'knownHosts')
  const known: readonly KnownKey[] = readKnownKeys(text.toString('utf8'), { host, port })
  const types = keyTypes.filter((type) => known.some((one) => one.type === type))
  if (types.length > 0) return { types, accepts: (key) => known.some((one) => one.key.equals(key)) }
  throw new PullError(
    'host-key',
    `${knownHostsFile} has no key of ${host}${port === 22 ? '' : ` port ${port}`}`,
    {
      hint: `Add the line that "ssh-keyscan -p ${port} ${host}" prints, once you have compared its fingerprint`,
    },
  )
}

type Outcome = SftpConnection | { refusedKey: Buffer | undefined; error: unknown }

async function tryConnect(
  { source, silenceMs, signal }: Connecting,
  { types, accepts }: Expected,
): Promise<Outcome> {
  // Loaded only here, since it would take memory in every daemon; and before the socket, whose errors need a listener at once.
  const { default: Client } = await import('ssh2-sftp-client')
  const socket = await openSocket(source, { silenceMs, signal })
  // Failures reach whoever waits for an answer; these would only be printed.
  const client = new Client('pull', { error: () => {}, end: () => {}, close: () => {} })
  let refusedKey: Buffer | undefined
  const onAbort = () => socket.destroy()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const { privateKeyFile, password, passphrase } = source
    await client.connect({
      sock: socket,
      username: source.user.value(),
      ...(password ? { password: password.value() } : {}),
      ...(privateKeyFile ? { privateKey: await readLocal(privateKeyFile, 'privateKeyFile') } : {}),
      ...(passphrase ? { passphrase: passphrase.value() } : {}),
      readyTimeout: silenceMs,
      algorithms: { serverHostKey: types.flatMap(algorithmsOf) as never[] },
      hostVerifier: (key: Buffer) => {
        const isKnown = accepts(key)
        if (!isKnown) refusedKey = key
        return isKnown
      },
    })
    return { client, socket }
  } catch (error) {
    socket.destroy()
    signal.throwIfAborted()
    if (error instanceof PullError) throw error
    return { refusedKey, error }
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

async function openSocket(
  source: SftpSource,
  { silenceMs, signal }: Pick<Connecting, 'silenceMs' | 'signal'>,
): Promise<Socket> {
  const host = source.host.value()
  const socket = connect({ host, port: source.port, noDelay: true, keepAlive: true })
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(silenceMs)]) })
    // Whoever waits for something on it hears of its end.
    socket.on('error', () => {})
    return socket
  } catch (cause) {
    socket.on('error', () => {})
    socket.destroy()
    signal.throwIfAborted()
    const reason = systemErrorCode(cause) === 'ABORT_ERR' ? 'no answer in time' : describeError(cause)
    throw new PullError(
      'no-answer',
      `the SFTP server ${host} port ${source.port} cannot be reached: ${reason}`,
      {
        hint: 'Correct host and port, or look whether this machine may connect there',
        cause,
      },
    )
  }
}

async function readLocal(file: string, key: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw new PullError('file-unreadable', `${file} cannot be read (${systemErrorCode(cause) ?? cause})`, {
      hint: `Correct ${key}, or let the user that runs catalogd read it`,
      cause,
    })
  }
}

function foreignKey({ host, hostKeys, knownHostsFile }: SftpSource, shown: readonly Buffer[]): PullError {
  const found = shown.map((key) => `${fingerprintOf(key)} (${typeOfKey(key)})`).join(', ')
  const expected = knownHostsFile ? `one of ${knownHostsFile}` : hostKeys.join(' or ')
  return new PullError(
    'host-key',
    `the SFTP server ${host.value()} shows the key ${found}, expected ${expected}`,
    {
      hint: 'Nothing was sent. Ask its provider whether the key was changed; only then write the new one',
    },
  )
}

function loginError({ host, user }: SftpSource, cause: unknown): PullError {
  const text = describeError(cause)
  if (/authentication methods failed/i.test(text)) {
    return new PullError('login', `the SFTP server ${host.value()} does not let ${user.value()} in`, {
      hint: 'Correct user, and password or privateKeyFile',
      cause,
    })
  }
  if (/privateKey|passphrase|private key/i.test(text)) {
    return new PullError('private-key', `the private key cannot be used: ${text}`, {
      hint: 'Correct privateKeyFile and passphrase',
      cause,
    })
  }
  return new PullError('no-answer', `the SFTP server ${host.value()} gives no answer: ${text}`, {
    hint: 'Look whether it is an SSH server that lets SFTP through',
    cause,
  })
}
