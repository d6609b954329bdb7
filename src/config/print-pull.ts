import { resolve } from 'node:path'
import { redactedText } from '../lib/redact.ts'
import type { PullInput } from './pull-schema.ts'

/** Headers that say what is wanted; of every other one the value may be a secret. */
const harmlessHeaders: ReadonlySet<string> = new Set(['accept', 'accept-language', 'user-agent'])

/**
 * `pull` for `config print`: files absolute; passwords, values of headers, and the query of the address masked, where
 * shops put their keys.
 */
export function describePull(input: PullInput | undefined, folder: string): Record<string, unknown> {
  if (input === undefined) return {}
  const { url, headers, sftp, password, passwordFile, caFile, ...others } = input
  return {
    pull: withoutUndefined({
      url: url && maskQuery(url),
      headers: headers && Object.fromEntries(Object.entries(headers).map(maskHeader)),
      sftp: sftp && {
        ...sftp,
        ...mask('password', sftp.password),
        ...mask('passphrase', sftp.passphrase),
        ...absolute(
          {
            passwordFile: sftp.passwordFile,
            privateKeyFile: sftp.privateKeyFile,
            knownHosts: sftp.knownHosts,
          },
          folder,
        ),
      },
      ...mask('password', password),
      ...absolute({ passwordFile, caFile }, folder),
      ...others,
    }),
  }
}

/** What is left of a reference names a variable; it gives no secret away. */
function maskText(text: string): string {
  return text === '' || /^\$\{\w+\}$/.test(text) ? text : redactedText
}

function mask(key: string, text: string | null | undefined): Record<string, string> {
  return typeof text === 'string' ? { [key]: maskText(text) } : {}
}

function maskHeader([name, value]: [string, string]): [string, string] {
  return [name, harmlessHeaders.has(name.toLowerCase()) ? value : maskText(value)]
}

function maskQuery(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : `${url.slice(0, at)}?${redactedText}`
}

function absolute(files: Readonly<Record<string, string | undefined>>, folder: string) {
  return Object.fromEntries(
    Object.entries(files).flatMap(([key, file]) =>
      file === undefined ? [] : [[key, resolve(folder, file)]],
    ),
  )
}

function withoutUndefined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
