import { analyse } from 'chardet'
import type { Encoding } from '../config/format-model.ts'
import { betterLatin, oddities, plausibleScripts, strangeness, textAs } from './encoding-readings.ts'

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
const latinNames = /^(windows-125[0247]|iso-8859-(1[0356]|2)|macintosh|ibm85\d)$/
const centralNames = /^(windows-1250|iso-8859-2)$/
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
/** Bytes beyond ASCII that are too few for the library. */
const littleBytes = 32
/** As many that all are words of one script prove it, whatever the library makes of them. */
const scriptBytes = 200
/** Characters in odd places that show that the text is nothing that the library knows. */
const strangeShare = 0.1
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
  const guessed = closest(chosen.family, text)
  const others = candidates
    .filter(({ head, confidence }) => head !== chosen.head && confidence > chosen.confidence * nearness)
    .map(({ family }) => closest(family, text))
  const { encoding, alternatives } = weigh(guessed, others, text)
  const isLatin = latinNames.test(encoding)
  if (alternatives.length === 0) return { encoding, isLatin }
  return { encoding, isLatin, warning: warningOf(encoding, alternatives, phrases) }
}

interface Weighed {
  encoding: Encoding
  alternatives: readonly Encoding[]
}

/** Of little text the library knows too few letters: what the words look like says more then. */
function weigh(guessed: Encoding, others: readonly Encoding[], text: Buffer): Weighed {
  const { highBytes } = countHighBytes(text)
  const isLittle = highBytes < littleBytes
  const isLatin = latinNames.test(guessed)
  const inScripts = mayBeScript(guessed, text) ? plausibleScripts(text) : []
  if (inScripts.length > 0) {
    const encoding = inScripts.includes(guessed) ? guessed : (inScripts[0] ?? guessed)
    return { encoding, alternatives: differing(encoding, isLittle ? inScripts : others, text) }
  }
  if (!isLatin && !isLittle) return { encoding: guessed, alternatives: differing(guessed, others, text) }
  // Not words of the script that was guessed.
  const encoding = isLatin ? guessed : 'windows-1252'
  const isStrange = isLittle || oddities(encoding, text) > highBytes * strangeShare
  // The Central European ones differ in a few letters, and both occur.
  const sibling =
    highBytes < centralBytesMin && centralNames.test(encoding) ? (families['windows-1250'] ?? []) : []
  const better = isStrange ? [...betterLatin(encoding, text), ...sibling] : []
  const isDoubtful = !isLittle || highBytes >= latinBytesMin || strangeness(encoding, text) > 0
  return { encoding, alternatives: differing(encoding, [...better, ...(isDoubtful ? others : [])], text) }
}

/** Words of Latin letters hardly have three beyond ASCII in a row, nor none but such letters in odd places. */
function mayBeScript(guessed: Encoding, text: Buffer): boolean {
  const { highBytes, inRuns } = countHighBytes(text)
  const isLatin = latinNames.test(guessed)
  if (inRuns * 2 > highBytes && (isLatin || highBytes < scriptBytes)) return true
  if (highBytes >= littleBytes) return false
  const stands = !/[a-z][\x80-\xff]|[\x80-\xff][a-z]/i.test(text.toString('latin1'))
  const strange = strangeness(guessed, text)
  return !isLatin || (stands && strange > 0) || strange * 3 >= highBytes
}

/** Those that read the text otherwise. */
function differing(encoding: Encoding, others: readonly Encoding[], text: Buffer): Encoding[] {
  const read = new Set([textAs(encoding, text)])
  const found: Encoding[] = []
  for (const one of others) {
    if (read.has(textAs(one, text))) continue
    read.add(textAs(one, text))
    found.push(one)
  }
  return found.slice(0, alternativesMax)
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
