import { fileRefusal } from './refusal.ts'

/** Real exports have some hundred; a record with more cells is read wrongly, or was made to fill the memory. */
export const columnsMax = 10_000

/** A file is refused whole when one of its records has more cells. */
export function tooManyColumns(name: string, line: number, found: number): Error {
  return fileRefusal({
    name,
    code: 'too-many-columns',
    found: `the record in line ${line} has ${found} cells, at most ${columnsMax} are read`,
    hint: 'Check format.delimiter and that the file is what it should be',
  })
}
