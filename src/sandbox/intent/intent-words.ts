/** Prompts and products are compared as words without case, accents and plural endings. */

const combiningMarks = /\p{M}+/gu
const letterPairs: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd' }

/** Lower case, without accents, typographic quotes made plain. */
export function plainText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(combiningMarks, '')
    .toLowerCase()
    .replace(/[ßæœøłđ]/g, (letter) => letterPairs[letter] ?? letter)
    .replace(/[’‘`´]/g, "'")
    .replace(/[‐-―−]/g, '-')
}

const wordForm = /[\p{L}\p{N}]+/gu

/** The words of a text in their order, each as `stemOf` leaves it. */
export function wordsOf(text: string): string[] {
  const words = plainText(text).replace(/'s\b/g, '').match(wordForm)
  return words?.map(stemOf) ?? []
}

/** Plurals that no rule gives, and words that shops use for one another. */
const irregular: ReadonlyMap<string, string> = new Map([
  ['men', 'man'],
  ['mens', 'man'],
  ['women', 'woman'],
  ['womens', 'woman'],
  ['lady', 'woman'],
  ['ladies', 'woman'],
  ['child', 'kid'],
  ['children', 'kid'],
  ['rucksack', 'backpack'],
  ['rucksacks', 'backpack'],
  ['bicycle', 'bike'],
  ['bicycles', 'bike'],
  ['couch', 'sofa'],
  ['smartphone', 'phone'],
  ['smartphones', 'phone'],
  ['knives', 'knife'],
  ['shelves', 'shelf'],
  ['scarves', 'scarf'],
  ['wolves', 'wolf'],
  ['leaves', 'leaf'],
  ['feet', 'foot'],
  ['mice', 'mouse'],
  ['grey', 'gray'],
  ['jewellery', 'jewelry'],
  ['bbq', 'barbecue'],
  ['barbeque', 'barbecue'],
])

/** The singular of an English noun, roughly; any other word stays. The same for prompts and products, so it need not be right. */
export function stemOf(word: string): string {
  const known = irregular.get(word)
  if (known !== undefined) return known
  if (word.length < 4 || !word.endsWith('s') || /(?:ss|us|is)$/.test(word)) return word
  if (word.endsWith('ies')) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1)
  if (/(?:ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2)
  return word.slice(0, -1)
}

/**
 * Words that say nothing about a product: of English, and the commonest of German. They are held against stems, and `man`
 * is that of `men`, so the German word is none of them.
 */
const stopWords: ReadonlySet<string> = new Set(
  `a about after all also am an and any anyone anything are around as at away be because been before being both but buy by
  can could did do does doing don each else ever everything find for found friend from fun get give go going good got great
  had has have having he hello help her here hey hi him his how i idea if im in instead into is it item its just kind know let
  like list look looking lot love made make many matter may maybe me might mine month more most much must my myself need new
  nice no not now of off offer ok okay on one ones only option or order other our out over own particular perfect please
  pick prefer rather present price product proper purchase really recommend recommendation recommended right s same search see
  sell send she shop shopping should show side so some somebody someone something soon sort stuff suggest suggestion
  suitable t take tell than thank thanks that the their them then there these they thing think this those to today
  together too try two type under until up us use used using very ve want wanted was way we well were what when where
  which while who will wish with within without work would yes yet you your yours
  alle aber am an auch auf aus bei bin bitte brauche da das dass dein dem den der des die doch du ein eine einem einen
  einer eines er es etwas fur gibt habe haben hat hatte ich ihr im in ist ja kann kannst kaufen konnen mein meine
  meinen mich mir mit mochte nach noch nur ob oder lieber stattdessen schon sehr sie sind so suche suchen und uns viel vom von was welche
  wenn wie will wir wird zeig zeige zu zum zur`
    .split(/\s+/)
    .map(stemOf),
)

export function isStopWord(word: string): boolean {
  return word.length < 2 || stopWords.has(word)
}

const colours: ReadonlySet<string> = new Set(
  `black white gray silver gold golden red blue green yellow orange purple violet pink brown beige navy turquoise teal
  petrol cream creme ivory khaki olive burgundy bordeaux rust slate moss ochre midnight birch copper anthracite charcoal
  mint lilac coral schwarz weiss rot blau grun gelb lila rosa braun grau turkis silber`.split(/\s+/),
)

/** Of two colours in one conversation the later replaces the earlier. */
export function isColour(word: string): boolean {
  return colours.has(word)
}
