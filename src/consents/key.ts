import { createHmac, createSecretKey, hash, randomBytes } from 'node:crypto'
import { link, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConsentId } from '../lib/brand.ts'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import { privateFileMode } from '../lib/private-modes.ts'
import { linkUnsupported, makeFolder, removeIfPresent, syncFolder } from '../sources/durable.ts'
import { readJournalKeys } from './journal-keys.ts'

const keyBytes = 32
const idBytes = 16

/** Turns e-mail addresses into the ids by which they are known everywhere but in documents. */
export interface ConsentHasher {
  /** The same for all spellings of an address that differ in case or surrounding blanks only. */
  idOf(email: string): ConsentId
  /** Tells keys apart without revealing them: what is stored under ids of another key means nothing. */
  readonly fingerprint: string
}

/** The key in a process that runs for long, while people work on its state folder. */
export interface ConsentKey extends ConsentHasher {
  /** Writes the file again when it was removed: nobody else knows the key. Throws when another key stands there. */
  keep(): Promise<'present' | 'restored'>
}

/**
 * The key of a state folder, `consents.key`: created at the first use, for good. Without it nobody can tell which
 * address an id in a log, in Redis or in the journal stands for, and with another one every consent would be sent anew.
 * So it is neither created nor used where a journal of another key stands.
 */
export async function openConsentKey(stateDir: string): Promise<ConsentKey> {
  const file = join(stateDir, 'consents.key')
  let key = await readFittingKey(stateDir, file)
  if (!key) {
    await makeFolder(stateDir)
    key = await createKey(stateDir, file, randomBytes(keyBytes))
  }
  const kept = key
  return { ...hasherOf(kept), keep: () => keepKey(stateDir, file, kept) }
}

/** Undefined: no consent was ever taken in here. Creates nothing. */
export async function findConsentKey(stateDir: string): Promise<ConsentHasher | undefined> {
  const key = await readFittingKey(stateDir, join(stateDir, 'consents.key'))
  return key && hasherOf(key)
}

function hasherOf(key: Buffer): ConsentHasher {
  // Made once: making it of the bytes for each address costs more than the hash.
  const secret = createSecretKey(key)
  return {
    fingerprint: fingerprintOf(key),
    idOf: (email) =>
      createHmac('sha256', secret)
        .update(email.trim().toLowerCase())
        .digest()
        .subarray(0, idBytes)
        .toString('base64url') as ConsentId,
  }
}

function fingerprintOf(key: Buffer): string {
  return hash('sha256', Buffer.concat([Buffer.from('fingerprint:'), key]), 'hex').slice(0, 16)
}

/** Undefined: there is none, and no journal that would need it. */
async function readFittingKey(stateDir: string, file: string): Promise<Buffer | undefined> {
  // First the journals: a process that begins one now has created its key before.
  const journals = await readJournalKeys(stateDir)
  const key = await readKey(file)
  if (!key) {
    if (journals[0]) throw lostKey(`${file} is missing, the key of the consents in ${journals[0].path}`)
    return undefined
  }
  const own = fingerprintOf(key)
  const foreign = journals.find(({ fingerprint = own }) => fingerprint !== own)
  if (foreign) throw lostKey(`${file} is not the key of the consents in ${foreign.path}`)
  return key
}

function lostKey(message: string): StorageError {
  return new StorageError('consent-key', message, {
    hint: 'Restore the key from a backup of the state folder. A daemon that still runs has the key, and writes it again within seconds when no file is there',
  })
}

async function keepKey(stateDir: string, file: string, key: Buffer): Promise<'present' | 'restored'> {
  const present = await readKey(file)
  if (!(present ?? (await createKey(stateDir, file, key))).equals(key)) {
    throw lostKey(`${file} is not the key that this process works with`)
  }
  return present ? 'present' : 'restored'
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
async function createKey(stateDir: string, file: string, bytes: Buffer): Promise<Buffer> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  try {
    await using handle = await open(temporary, 'wx', privateFileMode)
    await handle.writeFile(`${bytes.toString('hex')}\n`)
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
