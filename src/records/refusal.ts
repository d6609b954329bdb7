import { FileRefusedError } from '../lib/errors.ts'

/** Builds the error for a file that is refused whole; every message begins with the file's name. */
export function fileRefusal(options: {
  name: string
  code: string
  found: string
  hint: string
  cause?: unknown
}): FileRefusedError {
  const { name, code, found, hint, cause } = options
  return new FileRefusedError(code, `${name}: ${found}`, { hint, cause })
}
