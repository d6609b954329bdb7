import { type Constraints, gap, parseConstraints } from './intent-constraints.ts'
import { isStopWord, plainText, stemOf, wordsOf } from './intent-words.ts'

/** What a prompt says, apart from the catalogue that it is about. */
export interface ParsedPrompt {
  /** All stems in their order. */
  words: readonly string[]
  /** Stems in their order, each once. */
  terms: readonly string[]
  /** Of each stem, the word as it was written. */
  written: ReadonlyMap<string, string>
  /** Keys of brands, as `brandKey` makes them. */
  brands: readonly string[]
  /** Of what must not be: stems of each phrase. */
  negatives: readonly (readonly string[])[]
  constraints: Constraints
  followUp: {
    /** `show me more`: the same again, without what was shown. */
    wantsMore: boolean
    /** Against the prices that were shown. */
    wantsCheaper: boolean
    wantsDearer: boolean
    /** `in blue instead`: what narrowed last does not count any more. */
    isInstead: boolean
    /** Speaks of an answer before: `only the red ones`, `in blue instead`. */
    pointsBack: boolean
  }
  /** `anything under 20`: whatever was said before. */
  startsAnew: boolean
}

const promptCharactersMax = 2000
const termsMax = 24
const brandWordsMax = 4

const cheaper =
  /\b(?:cheaper|less expensive|lower priced|more affordable|gunstiger|billiger|preiswerter)\b(?! than| als)/
const dearer = /\b(?:more expensive|pricier|higher priced|higher end|teurer)\b(?! than| als)/
const more = /\b(?:more|others?|another|else|next|different|weitere[nrs]?|andere[nrs]?|mehr)\b/
const backwards =
  /\b(?:only|just|ones?|instead|those|these|them|same|but|now in|nur|davon|lieber|stattdessen)\b|^\s*(?:in|with|without|not|no|from|by|and|or|under|below|over|mit|ohne|von|und)\b/

const instead = /\b(?:instead|rather|lieber|stattdessen)\b/
const beginning =
  /\b(?:anything|everything|all products|start over|new search|forget (?:it|that|all)|irgendwas|alles)\b/

const negators = new Set(
  `not no without except excluding exclude neither nor never weder ohne kein keine keinen keiner keines keinem nicht ausser avoid
  hate dislike`.split(/\s+/),
)
const fillers = new Set(
  `a an the any in on for from by made of with that is are be too so very really want like anything der die das den von aus
  mit zu fur eine einen`.split(/\s+/),
)
const joiners = new Set(['or', 'nor', 'oder', 'noch'])

/** A brand as its words: `Casa Lumo` and `casa-lumo` are one. */
export function brandKey(words: readonly string[]): string {
  return words.join(' ')
}

export function parsePrompt(prompt: string, isBrand: (key: string) => boolean): ParsedPrompt {
  const text = plainText(prompt.slice(0, promptCharactersMax))
  const [wantsCheaper, wantsDearer] = [cheaper.test(text), dearer.test(text)]
  const { constraints, rest } = parseConstraints(text.replace(cheaper, gap).replace(dearer, gap))
  const words = rest.replace(/'s\b/g, '').match(/[\p{L}\p{N}]+|[¦,;.!?]/gu) ?? []
  const reading = readWords(words, isBrand)
  return {
    ...reading,
    words: wordsOf(text),
    constraints,
    followUp: {
      wantsMore: more.test(rest),
      wantsCheaper,
      wantsDearer,
      isInstead: instead.test(text),
      pointsBack: backwards.test(text),
    },
    startsAnew: beginning.test(text),
  }
}

interface Reading {
  terms: string[]
  brands: string[]
  negatives: string[][]
  written: Map<string, string>
}

function readWords(words: readonly string[], isBrand: (key: string) => boolean): Reading {
  const reading: Reading = { terms: [], brands: [], negatives: [], written: new Map() }
  for (const word of words) reading.written.set(stemOf(word), word)
  let at = 0
  while (at < words.length) {
    if (isNegator(words, at)) {
      at = readNegatives(words, at + 1, reading, isBrand)
      continue
    }
    const phrase = phraseAt(words, at, isBrand)
    const brand = brandKey(phrase.stems)
    if (phrase.isBrand && !reading.brands.includes(brand)) reading.brands.push(brand)
    for (const stem of phrase.stems) {
      const isNew = !reading.terms.includes(stem) && reading.terms.length < termsMax
      if (isNew && (phrase.isBrand || !isStopWord(stem))) reading.terms.push(stem)
    }
    at += phrase.stems.length || 1
  }
  return reading
}

/** `anything but red` and `other than red` are two words long; their first word says nothing by itself. */
function isNegator(words: readonly string[], at: number): boolean {
  const [before, word = ''] = [words[at - 1], words[at]]
  if (word === 'but') return before === 'anything' || before === 'everything'
  if (word === 'than') return before === 'other'
  return negators.has(word)
}

function readNegatives(
  words: readonly string[],
  from: number,
  { negatives }: Reading,
  isBrand: (key: string) => boolean,
): number {
  let at = from
  do {
    if (joiners.has(words[at] ?? '')) at += 1
    while (fillers.has(words[at] ?? '')) at += 1
    const { stems } = phraseAt(words, at, isBrand)
    if (stems.length === 0) return at
    negatives.push(stems)
    at += stems.length
  } while (joiners.has(words[at] ?? ''))
  return at
}

/** The longest brand that begins here, else one word; nothing at a mark or at the end. */
function phraseAt(
  words: readonly string[],
  at: number,
  isBrand: (key: string) => boolean,
): { stems: string[]; isBrand: boolean } {
  const stems: string[] = []
  for (const word of words.slice(at, at + brandWordsMax)) {
    if (!/[\p{L}\p{N}]/u.test(word)) break
    stems.push(stemOf(word))
  }
  for (let length = stems.length; length > 0; length -= 1) {
    const candidate = stems.slice(0, length)
    if (isBrand(brandKey(candidate))) return { stems: candidate, isBrand: true }
  }
  return { stems: stems.slice(0, 1), isBrand: false }
}
