import { FileRefusedError } from '../lib/errors.ts'
import { checkExpansion } from './decompress.ts'
import { detectCompression } from './detect-compression.ts'
import { detectDialect } from './detect-dialect.ts'
import { type DetectedEncoding, detectEncoding, isProvisional, settleEncoding } from './detect-encoding.ts'
import { EncodingEvidence, EncodingPhrases } from './encoding-evidence.ts'
import { JsonPaths } from './json-paths.ts'
import type { JudgeOptions, PassResult } from './judge-model.ts'
import type { Dialect } from './model.ts'
import { type FileSource, noRecordsRefusal } from './read-file.ts'
import { runPass } from './run-pass.ts'
import { decodeSample, findContainer, readSample, readTexts } from './text.ts'
import { XmlPaths } from './xml-paths.ts'

/** What the first pass found out about a whole file. */
export interface Judgement extends PassResult {
  dialect: Dialect
}

/**
 * The first pass: reads the whole file once before anything of it is applied. Throws FileRefusedError when the file
 * is truncated, empty, a bomb or no text of a known kind.
 */
export async function judgeFile(options: JudgeOptions): Promise<Judgement> {
  const compression = await detectCompression(options)
  if (compression === 'gzip' || compression === 'zstd') await checkExpansion(options, compression)
  const { members, sheet } = options.format
  const container = await findContainer(options, { compression, members, sheet })
  const sample = await readSample(options, container)
  const detected: DetectedEncoding =
    container.compression === 'xlsx'
      ? { encoding: 'utf-8', basis: 'declared' }
      : detectEncoding(sample, options.format.encoding)
  const evidence = isProvisional(detected) ? new EncodingEvidence() : undefined

  const judgeAs = async (
    { encoding, basis }: DetectedEncoding,
    onRaw?: (chunk: Buffer) => void,
  ): Promise<Judgement> => {
    const text = decodeSample(sample, encoding, options.name)
    const { complete } = sample
    const detectedDialect = detectDialect({
      ...options,
      text,
      complete,
      ...container,
      encoding,
      encodingBasis: basis,
    })
    const dialect = await locate(options, detectedDialect, { text, complete })
    try {
      return { dialect, ...(await runPass(options, dialect, onRaw)) }
    } catch (error) {
      throw await withSeenPaths(error, options, dialect)
    }
  }

  const first = await judgeAs(detected, evidence && ((chunk) => evidence.add(chunk)))
  evidence?.end()
  const settled =
    evidence && !first.isScanned
      ? await settleEncoding(detected, evidence, () => readPhrases(options, first.dialect))
      : detected
  // Where the beginning did not show what the whole file shows, all that was read is read again.
  const judgement = settled.encoding === detected.encoding ? first : await judgeAs(settled)
  const warnings = settled.warning === undefined ? [] : [settled.warning]
  return { ...judgement, warnings: [...warnings, ...judgement.warnings] }
}

/**
 * Reads the file once more, as far as needed. Most files are UTF-8: gathering phrases in their first pass, for nobody, took
 * more than half of its time.
 */
async function readPhrases(options: JudgeOptions, dialect: Dialect): Promise<EncodingPhrases> {
  const phrases = new EncodingPhrases()
  // Progress stays at the end of the file, but each report shows that work goes on.
  const again = { ...options, onProgress: () => options.onProgress?.(options.bytes) }
  for await (const { chunks } of readTexts(again, dialect, (chunk) => phrases.add(chunk))) {
    for await (const _ of chunks) if (phrases.isEnough) return phrases
  }
  phrases.end()
  return phrases
}

/** What would have been a way to records makes a wrong one easy to correct. */
async function withSeenPaths(error: unknown, options: JudgeOptions, dialect: Dialect): Promise<unknown> {
  if (!(error instanceof FileRefusedError) || error.code !== 'path-not-found') return error
  const { searched } = await search(options, dialect)
  return noRecordsRefusal(options.name, options.format.path, searched.paths)
}

async function locate(
  source: FileSource,
  dialect: Dialect,
  sample: { text: Buffer; complete: boolean },
): Promise<Dialect> {
  const isDocument = dialect.type === 'json' || dialect.type === 'xml'
  if (!isDocument || dialect.path !== undefined) return dialect
  return { ...dialect, path: await detectPath(source, dialect, sample) }
}

/** How far the records are looked for; those that begin later need a configured path. */
const searchBytesMax = 32 * 2 ** 20

/**
 * Finds where the records of a JSON or XML file are: in the sample, else, where that leaves it open, in the file.
 * Throws FileRefusedError when nothing looks like records in what was searched of a longer file.
 */
async function detectPath(
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
  throw noRecordsRefusal(source.name, undefined, searched.paths)
}

function openPaths({ type }: Dialect): JsonPaths | XmlPaths {
  return type === 'json' ? new JsonPaths() : new XmlPaths()
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
