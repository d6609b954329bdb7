import { FileRefusedError } from '../lib/errors.ts'
import { checkExpansion } from './decompress.ts'
import { detectCompression } from './detect-compression.ts'
import { detectDialect } from './detect-dialect.ts'
import { type DetectedEncoding, detectEncoding, isProvisional, settleEncoding } from './detect-encoding.ts'
import { detectPath, seenPaths } from './detect-path.ts'
import { EncodingEvidence } from './encoding-evidence.ts'
import { type JudgeOptions, type PassResult, runPass } from './judge-pass.ts'
import type { Dialect } from './model.ts'
import { noRecordsRefusal } from './no-records.ts'
import type { FileSource } from './read-file.ts'
import { decodeSample, findContainer, readSample } from './text.ts'

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
  const settled = evidence ? settleEncoding(detected, evidence) : detected
  // Where the beginning did not show what the whole file shows, all that was read is read again.
  const judgement = settled.encoding === detected.encoding ? first : await judgeAs(settled)
  const warnings = settled.warning === undefined ? [] : [settled.warning]
  return { ...judgement, warnings: [...warnings, ...judgement.warnings] }
}

/** What would have been a way to records makes a wrong one easy to correct. */
async function withSeenPaths(error: unknown, options: JudgeOptions, dialect: Dialect): Promise<unknown> {
  if (!(error instanceof FileRefusedError) || error.code !== 'path-not-found') return error
  return noRecordsRefusal(options.name, options.format.path, await seenPaths(options, dialect))
}

/** Adds where the records of a document are. */
async function locate(
  source: FileSource,
  dialect: Dialect,
  sample: { text: Buffer; complete: boolean },
): Promise<Dialect> {
  const isDocument = dialect.type === 'json' || dialect.type === 'xml'
  if (!isDocument || dialect.path !== undefined) return dialect
  return { ...dialect, path: await detectPath(source, dialect, sample) }
}
