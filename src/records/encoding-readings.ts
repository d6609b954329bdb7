import iconv from 'iconv-lite'
import type { Encoding } from '../config/format-model.ts'

/** Signs inside words, capitals after small letters, and vowel points, which no shop writes. */
const oddPlaces: readonly RegExp[] = [
  /(?<=\p{L})[^\p{ASCII}\p{L}\p{M}’‘“”»®™°²³…–—]/gu,
  /[^\p{ASCII}\p{L}\p{M}‘’„“”«»®™°²³€£¿¡–—…½¼¾ªº](?=\p{L})/gu,
  /(?<=\p{Ll})(?!\p{ASCII})\p{Lu}/gu,
  /[\u0591-\u05c7\u064b-\u065f]/gu,
]

/** How many characters do not stand where they do in words; those that are none count tenfold. */
export function oddities(encoding: Encoding, text: Buffer): number {
  const decoded = textAs(encoding, text)
  const wrong = decoded.match(/[\ufffd\u0080-\u009f¤]/g)?.length ?? 0
  return wrong * 10 + count(decoded, oddPlaces)
}

/**
 * Letters where the languages of Western Europe hardly have them: each is a common letter of Central Europe or Turkey
 * that was read as Windows-1252. Some languages have them all the same, such as
 * Icelandic, so that they only cast doubt.
 */
const rarePlaces: readonly RegExp[] = [
  /(?<=\p{L})[“”„«»¹²³](?=\p{L})|(?<!\p{L})[®©½¼¾](?=\p{L}{3})|(?<=\p{Lu})[ŠŽ](?=\p{Ll})/gu,
  /û(?=[szvgbdk])|(?<=\p{L}{3})û(?!\p{L})|è(?=[aeiouáéíóú])/gu,
  /(?<=\p{L}{3})[¹²³]/gu,
  /[ãõ](?=\p{L})(?![aeosi])|õ(?!e)/giu,
  /ñ(?![aeiouáéíóúü])/giu,
  /ê(?=s\p{L}|cz|dz|k)|(?<=[b-df-hj-np-tv-z])ë|(?<=[iaeu])ø(?!\p{L})|Ÿ/gu,
  // The end of Spanish words, from a Macintosh.
  /(?<=\p{L}{2})[–—](?=\p{Ll}{1,2}(?!\p{L}))/gu,
  /œ(?!u|i|dè|no|st|so|tus|cu)/giu,
  /[ìù](?=\p{L})|(?<![\p{L}])[ìù]|(?<=\p{L})þ|[ðý]/gu,
  /ø(?=[áéíýùè])|(?<=[áéíýùè])ø|[¿¡](?![\p{L}\s¿¡])|[£¯](?=\p{L})|º(?=\p{L})/gu,
]

/** Encodings for Latin letters in which a text of few of them may be, commonest first. */
const latin: readonly Encoding[] = [
  ...(['windows-1252', 'windows-1250', 'macintosh', 'windows-1254', 'ibm850'] as const),
  ...(['iso-8859-2', 'windows-1257', 'ibm852'] as const),
]

/** Those that read the text with fewer letters in odd places than `chosen`, best first. */
export function betterLatin(chosen: Encoding, text: Buffer): Encoding[] {
  const limit = strangeness(chosen, text)
  if (limit === 0) return []
  const found = latin.map((encoding) => ({ encoding, strange: strangeness(encoding, text) }))
  return found
    .filter(({ strange }) => strange < limit)
    .sort((one, other) => one.strange - other.strange)
    .map(({ encoding }) => encoding)
}

/** What is odd in a text of Latin letters, and what casts doubt on it. */
export function strangeness(encoding: Encoding, text: Buffer): number {
  const decoded = textAs(encoding, text)
  // The letters that set it apart are those of Finnish loans; it is known by its euro sign.
  const loans = encoding === 'iso-8859-15' ? (decoded.match(/[ŠšŽž]/g)?.length ?? 0) : 0
  return oddities(encoding, text) + count(decoded, rarePlaces) + loans
}

/** How words of one script look: what is all of a text but ASCII and signs, and what is in none. */
interface Script {
  letters: RegExp
  never: RegExp
}

const cyrillic: Script = {
  letters: /^[А-яЁёЀ-џҐґ]*$/u,
  never:
    /[а-џґ][А-ЯЀ-Џ]|[А-ЯЀ-Џ]{2}[а-џ]|(?<!\p{L})[ьъыЬЪЫ]|(?<!\p{L})(?![^\p{L}]*[аеёиоуыэюяіїєАЕЁИОУЫЭЮЯІЇЄ])(?=\p{L}{3})(?!\p{L}*[аеёиоуыэюяіїєАЕЁИОУЫЭЮЯІЇЄ])/u,
}
const greek: Script = {
  letters: /^[Ά-ώ]*$/u,
  never:
    /[ά-ώ][Ά-Ϋ]|[Α-Ϋ]{2}[ά-ώ]|[ΐΰ]|ς(?=\p{L})|σ(?!\p{L})|(?<!\p{L})(?=\p{L}{3})(?!\p{L}*[Ά-Ώάέήίόύώαεηιουω])|[άέήίόύώ]\p{L}*[άέήίόύώ]/u,
}
const hebrew: Script = { letters: /^[א-ת׳״]*$/u, never: /[ךםןףץ](?=\p{L})/u }
const arabic: Script = { letters: /^[ء-يپچژگکھہے]*$/u, never: /[ةى](?=\p{L})|(?<!\p{L})[ئءؤ]/u }
const thai: Script = {
  letters: /^[ก-ฺเ-๎]*$/u,
  never:
    /(?<![ก-ฮ\u0e31\u0e34-\u0e3a\u0e47-\u0e4e])[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]|[เ-ไ](?![ก-ฮ])|(?<![ก-ฮ\u0e48-\u0e4cา])[ะาำ]/u,
}
const ideographs: Script = { letters: /^[\p{Script=Han}ぁ-ヿー々]*$/u, never: /(?!)/u }
const hangul: Script = { letters: /^[가-힣]*$/u, never: /(?!)/u }

/** Commonest first. Of characters of two bytes `usual` says which bytes those have that are not rare. */
const scripts: readonly { encoding: Encoding; script: Script; usual?: RegExp }[] = [
  { encoding: 'windows-1251', script: cyrillic },
  // Before GB 18030, whose characters have all of its bytes and as many others.
  { encoding: 'euc-kr', script: hangul, usual: /^([\xa1\xb0-\xc8][\xa1-\xfe])*$/ },
  { encoding: 'gb18030', script: ideographs, usual: /^([\xa1\xa3\xb0-\xd7][\xa1-\xfe])*$/ },
  { encoding: 'shift_jis', script: ideographs, usual: /^([\x81-\x83\x88-\x97][\x40-\x7e\x80-\xfc])*$/ },
  { encoding: 'big5', script: ideographs, usual: /^([\xa1\xa4-\xc6][\x40-\x7e\xa1-\xfe])*$/ },
  { encoding: 'koi8-r', script: cyrillic },
  { encoding: 'windows-1253', script: greek },
  { encoding: 'windows-1255', script: hebrew },
  { encoding: 'windows-1256', script: arabic },
  { encoding: 'windows-874', script: thai },
  { encoding: 'euc-jp', script: ideographs, usual: /^([\xa1\xa4\xa5\xb0-\xcf][\xa1-\xfe])*$/ },
  { encoding: 'ibm866', script: cyrillic },
  { encoding: 'iso-8859-5', script: cyrillic },
  { encoding: 'koi8-u', script: cyrillic },
  { encoding: 'iso-8859-7', script: greek },
]

const signs = /[\p{ASCII}\u00a0«»“”„‘’–—…°®™№€²³½،؛؟\u3000-\u3002「」・、（），－％／：]/gu

/** Encodings of other scripts than Latin in which the text is words of one of them, commonest first. */
export function plausibleScripts(text: Buffer): Encoding[] {
  return scripts.filter((reading) => isPlausible(reading, text)).map(({ encoding }) => encoding)
}

function isPlausible({ encoding, script, usual }: (typeof scripts)[number], text: Buffer): boolean {
  const decoded = textAs(encoding, text)
  const letters = decoded.replace(signs, '')
  if (letters === '' || !script.letters.test(letters) || script.never.test(decoded)) return false
  // Only characters of two bytes stand beside Latin letters, such as in USBケーブル, hardly before small ones.
  if (usual === undefined) return !/[a-z](?!\p{ASCII})\p{L}|(?!\p{ASCII})\p{L}[a-z]/iu.test(decoded)
  return (
    usual.test(withoutAscii(text)) && !/(?!\p{ASCII})\S[a-z]|[a-z](?!\p{ASCII})\p{L}(?!\p{L})/u.test(decoded)
  )
}

/** The second byte of a character may be ASCII. */
function withoutAscii(text: Buffer): string {
  return text.toString('latin1').replace(/([\x80-\xff][\x40-\xff])|[^\x80-\xff]/g, '$1')
}

function count(text: string, patterns: readonly RegExp[]): number {
  return patterns.reduce((sum, pattern) => sum + (text.match(pattern)?.length ?? 0), 0)
}

export function textAs(encoding: Encoding, bytes: Buffer): string {
  return iconv.decode(bytes, encoding, { stripBOM: false })
}
