import { createHmac, createSecretKey, hash, randomBytes } from 'node:crypto'
import { link, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConsentId } from '../lib/brand.ts'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import { linkUnsupported, makeFolder, removeIfPresent, syncFolder } from '../sources/durable.ts'

const keyBytes = 32
const idBytes = 16

/** Turns e-mail addresses into the ids by which they are known everywhere but in documents. */
export interface ConsentHasher {
  /** The same for all spellings of an address that differ in case or surrounding blanks only. */
  idOf(email: string): ConsentId
  /** Tells keys apart without revealing them: what is stored under ids of another key means nothing. */
  readonly fingerprint: string
}

/**
 * The key of a state folder, `consents.key`: created at the first use, for good. Without it nobody can tell which
 * address an id in a log, in Redis or in the journal stands for, and with another one every consent would be sent anew.
 */
export async function openConsentKey(stateDir: string): Promise<ConsentHasher> {
  const file = join(stateDir, 'consents.key')
  const key = (await readKey(file)) ?? (await createKey(stateDir, file))
  // Made once: making it of the bytes for each address costs more than the hash.
  const secret = createSecretKey(key)
  return {
    fingerprint: hash('sha256', Buffer.concat([Buffer.from('fingerprint:'), key]), 'hex').slice(0, 16),
    idOf: (email) =>
      createHmac('sha256', secret)
        .update(email.trim().toLowerCase())
        .digest()
        .subarray(0, idBytes)
        .toString('base64url') as ConsentId,
  }
}

async function readKey(file: string): Promise<Buffer | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
  const key = Buffer.from(text.trim(), 'hex')
  if (key.length === keyBytes) return key
  throw new StorageError(
    'consent-key',
    `${file} does not hold a key of ${keyBytes} bytes in hexadecimal form`,
    {
      hint: 'Restore it from a backup of the state folder; with another key every consent would be sent again',
    },
  )
}

/** Whole or not at all, and never over one that another process creates at the same moment. */
async function createKey(stateDir: string, file: string): Promise<Buffer> {
  await makeFolder(stateDir)
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  try {
    await using handle = await open(temporary, 'wx', 0o600)
    await handle.writeFile(`${randomBytes(keyBytes).toString('hex')}\n`)
    await handle.sync()
    await linkOrRename(temporary, file)
  } finally {
    await removeIfPresent(temporary)
  }
  await syncFolder(stateDir)
  const key = await readKey(file)
  if (!key) throw new StorageError('consent-key', `${file} was removed while it was created`)
  return key
}

async function linkOrRename(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    const code = systemErrorCode(error) ?? ''
    if (code === 'EEXIST') return
    if (!linkUnsupported.has(code)) throw error
    await rename(from, to)
  }
}
