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
 * Throws FileRefusedError when nothing looks like records.
 */
export async function detectPath(
  source: FileSource,
  dialect: Dialect,
  sample: { text: Buffer; complete: boolean },
): Promise<string> {
  const paths = openPaths(dialect)
  paths.write(sample.text)
  if (paths.path !== undefined && (sample.complete || paths.isCertain)) return paths.path
  const searched = sample.complete ? paths : await search(source, dialect)
  if (searched.path !== undefined) return searched.path
  throw noRecordsRefusal(source.name, undefined, seenIn(searched))
}

/** Where records may be, for the message that they are not at the configured path. */
export async function seenPaths(source: FileSource, dialect: Dialect): Promise<readonly string[]> {
  return seenIn(await search(source, dialect))
}

function openPaths({ type }: Dialect): JsonPaths | XmlPaths {
  return type === 'json' ? new JsonPaths() : new XmlPaths()
}

function seenIn(paths: JsonPaths | XmlPaths): readonly string[] {
  return paths.paths
}

async function search(source: FileSource, dialect: Dialect): Promise<JsonPaths | XmlPaths> {
  const paths = openPaths(dialect)
  let bytes = 0
  for await (const { chunks } of readTexts({ ...source, onProgress: undefined }, dialect)) {
    for await (const chunk of chunks) {
      paths.write(chunk)
      bytes += chunk.length
      if (paths.isCertain || bytes > searchBytesMax) return paths
    }
    return paths
  }
  return paths
}
