import { isUtf8 } from 'node:buffer'
import { redactEmails } from '../lib/redact.ts'
import { cutBytes } from './claim-name.ts'

/**
 * A name in a drop folder, one character per byte. Names need not be UTF-8 (files sent by FTP from Windows often are
 * not), and a name that went through a wrong decoding cannot be opened any more.
 */
export type RawName = string

export function rawNameOf(bytes: Buffer): RawName {
  return bytes.toString('latin1')
}

export function entryPath(dir: string, raw: RawName): Buffer {
  return Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(raw, 'latin1')])
}

/** The name as a person reads it; patterns are matched against it. */
export function displayName(raw: RawName): string {
  const bytes = Buffer.from(raw, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : raw
}

/** The same without e-mail addresses, for who looks at what lies in a folder. */
export function shownName(raw: RawName): string {
  return redactEmails(displayName(raw))
}

const nameBytesMax = 120

/** A name that is safe in any folder, log and terminal: no control characters, separators or leading dots, not long. */
export function cleanName(name: string): string {
  const cleaned = name
    .normalize('NFC')
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:]/gu, '_')
    .replace(/^[.\s]+/, '')
    .trimEnd()
  return cutBytes(cleaned, nameBytesMax) || 'file'
}

/** Names that writers use for files they have not finished. */
export function isTemporaryName(name: string): boolean {
  return name.startsWith('.') || /\.(?:tmp|part|filepart)$/i.test(name)
}
