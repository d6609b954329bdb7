import { readFileSync } from 'node:fs'
import { ConfigError, systemErrorCode } from '../lib/errors.ts'
import type { Deferred } from './model.ts'

/** Where a value stands in the configuration, for the message of one that is not there. */
export interface ValueOrigin {
  /** `file:line:column path`. */
  place: string
  /** Variables that it needs and that are not set. */
  unset: readonly string[]
  /** Variables that leave it empty. */
  empty: readonly string[]
}

/** A text of the configuration that may need a variable which is not set; `parse` runs on a text that is there. */
export function deferText<T>(
  text: string | undefined,
  { place, unset, empty }: ValueOrigin,
  parse: (text: string) => T,
): Deferred<T> {
  const value = () => {
    const [name] = unset
    if (name !== undefined) {
      throw new ConfigError('variable-unset', `${place}: the environment variable ${name} is not set`, {
        hint: `Set ${name}, or write a default as \${${name}:-…}`,
      })
    }
    if (!text) {
      const found = text === undefined ? 'is missing' : 'is empty'
      throw new ConfigError('value-empty', `${place}: ${found}`, {
        hint: empty.length === 0 ? 'Give it a value' : `Set ${empty.join(' and ')}, or give it a value`,
      })
    }
    return parse(text)
  }
  return { available: unset.length === 0 && Boolean(text), value }
}

/** A token in a file of its own: read at every use, so that a new token needs no restart. */
export function deferTokenFile(file: string, origin: ValueOrigin): Deferred<string> {
  const { place } = origin
  const path = deferText(file, origin, (text) => text)
  const value = () => readToken(path.value(), place)
  return {
    get available() {
      try {
        return value() !== ''
      } catch (error) {
        if (error instanceof ConfigError) return false
        throw error
      }
    },
    value,
  }
}

function readToken(file: string, place: string): string {
  const token = readText(file, place).replace(/\r?\n$/, '')
  if (token === '' || /[\r\n]/.test(token)) {
    const found = token === '' ? 'is empty' : 'has several lines'
    throw new ConfigError('token-file', `${place}: ${file} ${found}, expected the token in one line`, {
      hint: 'Write the token into it',
    })
  }
  return token
}

function readText(file: string, place: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const code = systemErrorCode(cause)
    if (code === undefined) throw cause
    throw new ConfigError('token-file', `${place}: ${file} cannot be read (${code})`, {
      hint: 'Create it with the token in one line, readable for the user that runs catalogd',
      cause,
    })
  }
}
