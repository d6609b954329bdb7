import { JsonPaths } from './json-paths.ts'
import type { Dialect } from './model.ts'
import { noRecordsRefusal } from './no-records.ts'
import type { FileSource } from './read-file.ts'
import { readTexts } from './text.ts'
import { XmlPaths } from './xml-paths.ts'

/** How far the records are looked for; those that begin later need a configured path. */
const searchBytesMax = 32 * 2 ** 20

/**
 * Finds where the records of a JSON or XML file are: in the sample, else, where that leaves it open, in the file.
 * Throws FileRefusedError when nothing looks like records in what was searched of a longer file.
 */
export async function detectPath(
  source: FileSource,
  dialect: Dialect,
  sample: { text: Buffer; complete: boolean },
): Promise<string> {
  const paths = openPaths(dialect)
  paths.write(sample.text)
  if (paths.path !== undefined && (sample.complete || paths.isCertain)) return paths.path
  const { searched, isWhole } = sample.complete
    ? { searched: paths, isWhole: true }
    : await search(source, dialect)
  if (searched.path !== undefined) return searched.path
  // Nowhere: the first pass says what is wrong with a document that is broken or cut off, and where.
  if (isWhole || searched.isBroken) return ''
  throw noRecordsRefusal(source.name, undefined, seenIn(searched))
}

/** Where records may be, for the message that they are not at the configured path. */
export async function seenPaths(source: FileSource, dialect: Dialect): Promise<readonly string[]> {
  return seenIn((await search(source, dialect)).searched)
}

function openPaths({ type }: Dialect): JsonPaths | XmlPaths {
  return type === 'json' ? new JsonPaths() : new XmlPaths()
}

function seenIn(paths: JsonPaths | XmlPaths): readonly string[] {
  return paths.paths
}

/** `isWhole`: nothing of the document was left out. */
async function search(
  source: FileSource,
  dialect: Dialect,
): Promise<{ searched: JsonPaths | XmlPaths; isWhole: boolean }> {
  const searched = openPaths(dialect)
  let bytes = 0
  for await (const { chunks } of readTexts({ ...source, onProgress: undefined }, dialect)) {
    for await (const chunk of chunks) {
      searched.write(chunk)
      bytes += chunk.length
      if (searched.isCertain || bytes > searchBytesMax) return { searched, isWhole: false }
    }
    break
  }
  return { searched, isWhole: true }
}
