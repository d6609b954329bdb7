import type { Encoding } from '../config/model.ts'
import { detectCompression } from './detect-compression.ts'
import { detectDialect } from './detect-dialect.ts'
import { type DetectedEncoding, detectEncoding } from './detect-encoding.ts'
import { type JudgeOptions, type PassResult, runPass } from './judge-pass.ts'
import type { Dialect } from './model.ts'
import { decodeSample, readSample } from './text.ts'
import { Utf8Tally } from './utf8-tally.ts'

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
  const { members, sheet } = options.format
  const container = { compression, members, sheet }
  const sample = await readSample(options, container)
  const detected: DetectedEncoding =
    compression === 'xlsx'
      ? { encoding: 'utf-8', basis: 'declared' }
      : detectEncoding(sample.bytes, options.format.encoding)
  const tally = mayBeUtf8(detected) ? new Utf8Tally() : undefined

  const judgeAs = async (encoding: Encoding, onRaw?: (chunk: Buffer) => void): Promise<Judgement> => {
    const text = decodeSample(sample, encoding, options.name)
    const { complete } = sample
    const dialect = detectDialect({
      ...options,
      text,
      complete,
      ...container,
      encoding,
      encodingBasis: detected.basis,
    })
    return { dialect, ...(await runPass(options, dialect, onRaw)) }
  }

  const judgement = await judgeAs(detected.encoding, tally && ((chunk) => tally.add(chunk)))
  tally?.end()
  if (tally && detected.basis === 'detected' && tally.encoding !== detected.encoding) {
    // The beginning did not show what the whole file shows: all that was read is read again.
    return judgeAs(tally.encoding)
  }
  const mistaken = tally?.invalid === 0 && tally.multiByte > 0 && detected.encoding === 'windows-1252'
  const warnings = [
    ...(detected.warning === undefined ? [] : [detected.warning]),
    ...(mistaken ? ['format.encoding says windows-1252, but the file is valid UTF-8 throughout'] : []),
  ]
  return { ...judgement, warnings: [...warnings, ...judgement.warnings] }
}

/** Whether bytes tell anything that is not certain already. */
function mayBeUtf8({
  encoding,
  basis,
}: {
  encoding: Encoding
  basis: Dialect['basis']['encoding']
}): boolean {
  if (basis === 'detected') return encoding === 'utf-8' || encoding === 'windows-1252'
  return basis === 'configured' && encoding === 'windows-1252'
}
