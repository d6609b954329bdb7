import type { FileRefusedError } from '../lib/errors.ts'
import { fileRefusal } from '../records/read-file.ts'
import { hashContent } from '../sources/compress.ts'
import type { AcceptLine } from '../sources/model.ts'
import type { StepContext } from './context.ts'

interface Checking {
  context: StepContext
  accept: AcceptLine
  path: string
  /** To be read. */
  bytes: number
}

const again = 'Have the file exported again, and drop it with its side file'

/**
 * Holds the bytes of a file against the checksums that stood beside it. Throws a FileRefusedError. A file with an
 * outcome was checked before it had one, and may be compressed by now.
 */
export async function checkExpectation({ context, accept, path, bytes }: Checking): Promise<void> {
  const { expect, name } = accept
  const { manifest, signal, work } = context
  if (expect === undefined || manifest.outcome(accept.sequence) !== undefined) return
  if (expect.unreadable !== undefined) {
    throw fileRefusal({ name, code: 'side-file', found: describeUnreadable(expect.unreadable), hint: again })
  }
  for (const algorithm of ['md5', 'sha256'] as const) {
    const expected = expect[algorithm]
    if (expected === undefined) continue
    const found = await hashContent({ from: path, bytes, signal, algorithm, onPart: () => work.advance() })
    if (found === expected) continue
    throw fileRefusal({
      name,
      code: 'checksum',
      found: `its ${algorithm} is ${found}, expected ${expected} as its .${algorithm} file said: it was changed or cut off on its way`,
      hint: again,
    })
  }
}

/** Holds the records that were found against the number that stood beside the file. Throws a FileRefusedError. */
export function checkCount({ accept }: Pick<Checking, 'accept'>, { records }: { records: number }): void {
  const expected = accept.expect?.count
  if (expected !== undefined && expected !== records) throw refuseCount(accept.name, expected, records)
}

function refuseCount(name: string, expected: number, records: number): FileRefusedError {
  const found = `it has ${records} records, expected ${expected} as its .count file said (a header is not counted)`
  return fileRefusal({ name, code: 'record-count', found, hint: again })
}

function describeUnreadable(kind: string): string {
  const expected =
    kind === 'count' ? 'the number of records' : `a checksum in hexadecimal, alone or before the file's name`
  return `its .${kind} file says nothing that can be read, expected ${expected}`
}
