/** Rules for values that the contract sends as strings. Pure; each answers whether the text is in the wire form. */

const httpOrigin = /^https?:\/\/[^\s/?#\\]/i
// Control characters and white space are dropped or escaped differently by every URL parser, so they never pass.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
const unsafeInUrl = /[\u0000-\u0020\u007f\s]/

/** The most of all addresses. Names of letters and digits alone, so that no rule of a host name can be broken. */
const plainUrl = /^https?:\/\/(?:[a-z\d]+[.-])*[a-z]{2,}(?:[/?#][!-~]*)?$/i

/** True for most addresses. */
export function isPlainUrl(text: string): boolean {
  return plainUrl.test(text)
}

/** An absolute http or https address with a host. Non-ASCII letters are fine, white space is not. */
export function isHttpUrl(text: string): boolean {
  if (isPlainUrl(text)) return true
  return httpOrigin.test(text) && !unsafeInUrl.test(text) && URL.canParse(text)
}

const dateForm = /^(\d{4})-(\d{2})-(\d{2})$/
const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** `YYYY-MM-DD`, and a day that exists (no 30 February; 29 February in leap years only). */
export function isCalendarDate(text: string): boolean {
  const match = dateForm.exec(text)
  if (!match) return false
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const leapDay = month === 2 && (year % 400 === 0 || (year % 4 === 0 && year % 100 !== 0)) ? 1 : 0
  return day >= 1 && day <= (monthDays[month - 1] ?? 0) + leapDay
}

const otherSeparator = />|&gt;/i

/** True for a path whose levels are separated by a greater-than sign, also where a feed left it escaped (`&gt;`). */
export function hasOtherCategorySeparator(text: string): boolean {
  return otherSeparator.test(text)
}

/** `Home/Kitchen/Pans`, or the same from the root with one leading slash; no level is empty. */
export function isCategoryPath(text: string): boolean {
  if (hasOtherCategorySeparator(text)) return false
  const path = text.startsWith('/') ? text.slice(1) : text
  return path.split('/').every((level) => level.trim() !== '')
}

const decimalForm = /^-?\d+(\.\d+)?$/
const integerForm = /^-?\d+$/

/** A decimal such as `4.5`: digits, at most one point, no thousands marks, no exponent. */
export function isDecimalText(text: string): boolean {
  return decimalForm.test(text)
}

/** An integer such as `1204`. */
export function isIntegerText(text: string): boolean {
  return integerForm.test(text)
}

// Unquoted mailboxes only: what would separate or enclose addresses in a list is never part of one.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
const mailbox = /^[^@\s\u0000-\u001f\u007f<>()[\]\\,;:"]+$/
const hostName =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?)(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?)*$/u

/** A mailbox, one `@`, a host name. Letters of any script pass; blanks, quotes and what encloses an address do not. */
export function isEmailAddress(text: string): boolean {
  if (text.length > 254 || !text.isWellFormed()) return false
  const at = text.indexOf('@')
  return mailbox.test(text.slice(0, Math.max(at, 0))) && hostName.test(text.slice(at + 1))
}

/** A name of the tz database as this Node knows it; offsets such as `+01:00` are no names. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

const aclGroupList = /^\s*[123]\s*(,\s*[123]\s*)*$/

/** `1`, `1,3`: groups of users in one text. Empty takes a user out of all groups. */
export function isAclGroupList(text: string): boolean {
  return text === '' || aclGroupList.test(text)
}

const isoDateTime =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/

/** ISO 8601 date and time, with or without seconds and zone; the date alone is one too. */
export function isIsoDateTime(text: string): boolean {
  const match = isoDateTime.exec(text)
  if (!match || !isCalendarDate(match[1] ?? '')) return false
  return Number(match[2] ?? 0) <= 23 && Number(match[3] ?? 0) <= 59 && Number(match[4] ?? 0) <= 60
}

// ISO 3166-1 alpha-2 as assigned, and XK, which stands for Kosovo until a code is. Written out: what Node's own tables
// name includes withdrawn codes and groups such as EU.
const countryCodes = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW
  BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI
  FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN
  IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME
  MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF
  PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV
  SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE
  YT ZA ZM ZW XK`.split(/\s+/),
)

/** ISO 3166 alpha-2, in either case: a code that names a country. */
export function isCountryCode(text: string): boolean {
  return countryCodes.has(text.toUpperCase())
}

/** A language code such as `en`, also with a region: `en-GB`, `pt_BR`. */
export function isLanguageCode(text: string): boolean {
  try {
    return (
      /^[A-Za-z]{2,3}([-_]|$)/.test(text) && Intl.getCanonicalLocales(text.replaceAll('_', '-')).length === 1
    )
  } catch {
    return false
  }
}
