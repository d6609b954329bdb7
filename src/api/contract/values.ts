/** Rules for values that the contract sends as strings. Pure; each answers whether the text is in the wire form. */

const httpOrigin = /^https?:\/\/[^\s/?#\\]/i
// Control characters and white space are dropped or escaped differently by every URL parser, so they never pass.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
const unsafeInUrl = /[\u0000-\u0020\u007f\s]/

/** An absolute http or https address with a host. Non-ASCII letters are fine, white space is not. */
export function isHttpUrl(text: string): boolean {
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
