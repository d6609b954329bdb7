import { analyse } from 'chardet'
import iconv from 'iconv-lite'
import type { Encoding } from '../config/model.ts'

/** What text that is not UTF-8 seems to be. */
export interface EncodingGuess {
  encoding: Encoding
  /** One of the encodings for languages with Latin letters, but not UTF-8. */
  isLatin: boolean
  /** Says that the guess is uncertain, what else it could be, and what to do. */
  warning?: string
}

/** Encodings that differ in a few characters; the first is taken unless another fits better. */
const families: Readonly<Record<string, readonly Encoding[]>> = {
  'ISO-8859-1': ['windows-1252', 'iso-8859-15'],
  'windows-1252': ['windows-1252', 'iso-8859-15'],
  'ISO-8859-2': ['windows-1250', 'iso-8859-2'],
  'windows-1250': ['windows-1250', 'iso-8859-2'],
  'ISO-8859-7': ['windows-1253', 'iso-8859-7'],
  'windows-1253': ['windows-1253', 'iso-8859-7'],
  'ISO-8859-8': ['windows-1255', 'iso-8859-8'],
  'windows-1255': ['windows-1255', 'iso-8859-8'],
  'ISO-8859-9': ['windows-1254'],
  'windows-1254': ['windows-1254'],
  'windows-1257': ['windows-1257', 'iso-8859-13'],
  'windows-1251': ['windows-1251'],
  'windows-1256': ['windows-1256'],
  'windows-874': ['windows-874'],
  'ISO-8859-5': ['iso-8859-5'],
  'ISO-8859-6': ['iso-8859-6'],
  'KOI8-R': ['koi8-r'],
  Shift_JIS: ['shift_jis'],
  'EUC-JP': ['euc-jp'],
  GB18030: ['gb18030'],
  Big5: ['big5'],
  'EUC-KR': ['euc-kr'],
}

const latin: ReadonlySet<Encoding> = new Set(['windows-1252', 'windows-1250', 'windows-1254', 'windows-1257'])
const multiByte: ReadonlySet<Encoding> = new Set(['shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr'])

/** Of 100. Below it the library has counted characters without knowing them. */
const multiByteMin = 50
/** How much more another alphabet of Latin letters must fit than the commonest one, and how much text it takes. */
const latinLead = 8
const latinBytesMin = 6
const centralBytesMin = 20
/** A runner-up that is so near is worth a warning. */
const nearness = 0.75
const alternativesMax = 3
/** What all characters together would lose if each stood where no language has it. */
const oddityWeight = 60

interface Candidate {
  /** The first of its family. */
  head: Encoding
  family: readonly Encoding[]
  confidence: number
}

/**
 * Guesses by the phrases of a file that hold bytes beyond ASCII. Western European (Windows-1252) unless the text says
 * otherwise: it is by far the commonest, and a few letters prove nothing.
 */
export function guessEncoding(phrases: readonly Buffer[]): EncodingGuess {
  const text = Buffer.concat(phrases.flatMap((phrase) => [phrase, Buffer.from(' ')]))
  const { highBytes } = countHighBytes(text)
  const candidates = candidatesOf(text)
  const common = candidates.find(({ head }) => head === 'windows-1252')
  const best = candidates[0] ?? {
    head: 'windows-1252' as const,
    family: families['windows-1252'] ?? [],
    confidence: 0,
  }
  const proven =
    !latin.has(best.head) ||
    (highBytes >= latinBytesMin && best.confidence >= (common?.confidence ?? 0) + latinLead)
  const chosen: Candidate = proven
    ? best
    : (common ?? { ...best, head: 'windows-1252', family: ['windows-1252', 'iso-8859-15'] })
  const encoding = closest(chosen.family, text)
  const others = candidates
    .filter(({ head, confidence }) => head !== chosen.head && confidence > chosen.confidence * nearness)
    .map(({ family }) => closest(family, text))
  const alternatives = others.filter((other) => textAs(other, text) !== textAs(encoding, text))
  const isLatin = latin.has(chosen.head)
  if (alternatives.length === 0) return { encoding, isLatin }
  return {
    encoding,
    isLatin,
    warning: warningOf(encoding, alternatives.slice(0, alternativesMax), phrases),
  }
}

/** Best first. Texts of Latin letters have single bytes beyond ASCII, those of other scripts whole words of them. */
function candidatesOf(text: Buffer): Candidate[] {
  const { highBytes, inRuns } = countHighBytes(text)
  const shareInRuns = inRuns / highBytes
  const found = new Map<Encoding, Candidate>()
  for (const { name, confidence } of analyse(text)) {
    const family = families[name]
    const head = family?.[0]
    if (head === undefined || found.has(head) || !isDecodable(head, text)) continue
    if (latin.has(head) ? shareInRuns > 0.6 : shareInRuns < 0.3) continue
    if (multiByte.has(head) && confidence < multiByteMin) continue
    const odd = oddities(closest(family ?? [], text), text)
    found.set(head, { head, family: family ?? [], confidence: confidence - (oddityWeight * odd) / highBytes })
  }
  return [...found.values()].sort((a, b) => b.confidence - a.confidence)
}

/** How many bytes are beyond ASCII, how many of them stand with two others or more, and how many are below 0xa0. */
function countHighBytes(text: Buffer): { highBytes: number; inRuns: number; controls: number } {
  let highBytes = 0
  let inRuns = 0
  let run = 0
  let controls = 0
  for (const byte of text) {
    if (byte >= 0x80) {
      if (byte < 0xa0) controls += 1
      run += 1
      continue
    }
    highBytes += run
    if (run >= 3) inRuns += run
    run = 0
  }
  return { highBytes, inRuns, controls }
}

/** A few wrong bytes are damage, many mean another encoding. */
function isDecodable(encoding: Encoding, text: Buffer): boolean {
  const decoded = textAs(encoding, text)
  return (
    (decoded.match(/[\ufffd\u0080-\u009f]/g)?.length ?? 0) * 20 <= (decoded.match(/\P{ASCII}/gu)?.length ?? 0)
  )
}

/** The member of the family that gives the fewest characters which do not stand where they do in words. */
function closest(family: readonly Encoding[], text: Buffer): Encoding {
  const [first, ...others] = family
  if (first === undefined) return 'windows-1252'
  // Letters stand at different places in the two Central European ones, but ISO has none between 0x80 and 0x9f, where
  // a text of some length in the other one has its š, ž and ś.
  const { highBytes, controls } = countHighBytes(text)
  if (first === 'windows-1250' && controls === 0 && highBytes >= centralBytesMin) return 'iso-8859-2'
  let best = first
  for (const other of others) if (oddities(other, text) < oddities(best, text)) best = other
  return best
}

/** Signs inside words, capitals after small letters, and vowel points, which no shop writes. */
const oddPlaces: readonly RegExp[] = [
  /(?<=\p{L})[^\p{ASCII}\p{L}\p{M}’‘“”»®™°²³…–—]/gu,
  /[^\p{ASCII}\p{L}\p{M}‘’„“”«»®™°²³€£¿¡–—…½¼¾ªº](?=\p{L})/gu,
  /(?<=\p{Ll})(?!\p{ASCII})\p{Lu}/gu,
  /[\u0591-\u05c7\u064b-\u065f]/gu,
]

function oddities(encoding: Encoding, text: Buffer): number {
  const decoded = textAs(encoding, text)
  const wrong = decoded.match(/[\ufffd\u0080-\u009f¤]/g)?.length ?? 0
  const placed = oddPlaces.reduce((sum, pattern) => sum + (decoded.match(pattern)?.length ?? 0), 0)
  return wrong * 10 + placed
}

function textAs(encoding: Encoding, bytes: Buffer): string {
  return iconv.decode(bytes, encoding, { stripBOM: false })
}

function warningOf(
  encoding: Encoding,
  alternatives: readonly Encoding[],
  phrases: readonly Buffer[],
): string {
  const readings = [encoding, ...alternatives].map((one) => {
    const phrase = phrases.find((bytes) => textAs(one, bytes) !== textAs(encoding, bytes)) ?? phrases[0]
    return { one, phrase }
  })
  const shown = readings[1]?.phrase ?? phrases[0] ?? Buffer.alloc(0)
  const [own, ...rest] = readings.map(
    ({ one }) => `${JSON.stringify(textAs(one, shown).slice(0, 40).trim())} (${one})`,
  )
  return `the encoding was guessed and is uncertain: ${own} is read, it could be ${rest.join(' or ')}; set format.encoding to the right one`
}
