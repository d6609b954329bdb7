import { isDeepStrictEqual } from 'node:util'
import { CheckedXml } from '../../src/records/checked-xml.ts'
import type { Dialect, RecordSlice } from '../../src/records/model.ts'
import { parseXml } from '../../src/records/read-records.ts'
import { openSplitter } from '../../src/records/slices.ts'
import { decodeCut, firstDifference, generateCuts, splitCut } from './chunks.ts'
import { decodeWhole, type Encoded, encode, generateEncoded } from './encoded.ts'
import { generateXml } from './generate-xml.ts'
import type { Kind, Outcome } from './kind.ts'
import { readXmlWhole } from './read-xml-whole.ts'

interface XmlSettings {
  path: string
  cuts: readonly number[]
  /** Of the second pass. */
  cutsAgain: readonly number[]
  encoded: Encoded | undefined
}

/** The objects of both passes over an XML document against those of one parser over the whole. */
export const xmlKind: Kind<XmlSettings> = {
  name: 'xml',
  weight: 20,
  generate: (random) => {
    const { path, parts } = generateXml(random)
    const encoded = random.chance(0.15) ? generateEncoded(random) : undefined
    return {
      parts,
      settings: { path, cuts: generateCuts(random), cutsAgain: generateCuts(random), encoded },
    }
  },
  run: ({ parts, settings }) => {
    const written = Buffer.from(parts.join(''))
    const { encoded, cuts } = settings
    if (encoded === undefined) return compare(written, written.toString('utf8'), settings)
    const bytes = encode(written.toString('utf8'), encoded)
    const expected = decodeWhole(bytes, encoded.encoding)
    return decodeCut(bytes, { encoding: encoded.encoding, cuts }).then((text) =>
      compare(text, expected, settings),
    )
  },
}

function compare(text: Buffer, expectedText: string, settings: XmlSettings): Outcome {
  const { path, cuts, cutsAgain } = settings
  const expected = readXmlWhole(expectedText, path)
  const first: unknown[] = []
  const options = { name: 'fuzz.xml', path, recordBytes: 1_000_000, firstRecord: 1 }
  const checked = new CheckedXml(options)
  const code = splitCut(checked, { text, cuts }, (batch) => {
    for (const slice of batch) first.push(checked.sourceOf(slice))
  })
  if (expected === undefined || code !== undefined) {
    const isAgreed = expected === undefined ? code !== undefined : isNowhere(expected, code)
    if (isAgreed) return 'refused'
    return { difference: code === undefined ? 'read, but saxes refuses it' : `refused: ${code}` }
  }
  const second: unknown[] = []
  const take = (batch: readonly RecordSlice[]) => {
    for (const result of parseXml(batch, []))
      second.push('parsed' in result ? result.parsed.source : 'rejected')
  }
  const splitter = openSplitter('fuzz.xml', dialectOf(path), { recordBytes: 1_000_000, before: 0 })
  const codeAgain = splitCut(splitter, { text, cuts: cutsAgain }, take)
  if (codeAgain !== undefined) return { difference: `refused by the second pass alone: ${codeAgain}` }
  const differenceOf = (pass: string, found: unknown[]) => {
    const difference = firstDifference(found, expected, isDeepStrictEqual)
    return difference === undefined ? undefined : `${pass} pass, ${difference}`
  }
  const difference = differenceOf('first', first) ?? differenceOf('second', second)
  return difference === undefined ? 'read' : { difference }
}

/** A document without the elements of the path is refused, one with an empty element around no records is read. */
function isNowhere(expected: readonly unknown[], code: string | undefined): boolean {
  return expected.length === 0 && code === 'path-not-found'
}

function dialectOf(path: string): Dialect {
  const basis = {
    type: 'configured',
    encoding: 'configured',
    delimiter: 'detected',
    quote: 'detected',
  } as const
  const unused = { delimiter: ',', quote: undefined, lineEnd: '\n' } as const
  return { type: 'xml', path, compression: 'none', encoding: 'utf-8', ...unused, basis }
}
