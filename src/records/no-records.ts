import { fileRefusal } from './refusal.ts'

const pathsShown = 8

/** The document is sound, but its records are not at the path, or nowhere to be seen. `seen` lists where they may be. */
export function noRecordsRefusal(
  name: string,
  path: string | undefined,
  seen: readonly string[] = [],
): Error {
  const shown = seen.slice(0, pathsShown).map((found) => (found === '' ? '"" (the root)' : found))
  const more = seen.length > pathsShown ? ` and ${seen.length - pathsShown} more` : ''
  const where =
    path === undefined
      ? 'nothing in it looks like a list of records'
      : `there are no records at ${path === '' ? 'the root' : path}`
  return fileRefusal({
    name,
    code: 'path-not-found',
    found: seen.length === 0 ? where : `${where}; found ${shown.join(', ')}${more}`,
    hint: 'Set format.path: for JSON the keys that lead to the array of records (data.products, or "" for the root) or to the object that holds them (data.products.*), for XML the elements from the root to the record (rss/channel/item)',
  })
}
