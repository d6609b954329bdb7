import type { PartHandler } from './xlsx-part.ts'

/** How a number is shown: as itself, with leading zeros, or as a moment counted in days. */
type Shape = { kind: 'number'; digits: number } | { kind: 'date' | 'time' | 'date-time' | 'elapsed' }

const plain: Shape = { kind: 'number', digits: 0 }
const secondsPerDay = 86_400
const formatsMax = 70_000
/** 9999-12-31 in the older system. */
const daysMax = 2_958_466

/** Formats that every reader knows by number; those of East Asia are dates and times too. */
const builtIn: readonly { from: number; to: number; kind: Exclude<Shape['kind'], 'number'> }[] = [
  { from: 14, to: 17, kind: 'date' },
  { from: 18, to: 21, kind: 'time' },
  { from: 22, to: 22, kind: 'date-time' },
  { from: 27, to: 31, kind: 'date' },
  { from: 32, to: 35, kind: 'time' },
  { from: 36, to: 36, kind: 'date' },
  { from: 45, to: 45, kind: 'time' },
  { from: 46, to: 46, kind: 'elapsed' },
  { from: 47, to: 47, kind: 'time' },
  { from: 50, to: 58, kind: 'date' },
]

/** The styles of a workbook, as far as they decide what a number means. */
export class NumberFormats implements PartHandler {
  readonly #is1904: boolean
  readonly #custom = new Map<number, Shape>()
  /** By the number that cells refer to. */
  readonly #styles: Shape[] = []
  #inCellStyles = false

  constructor({ is1904 }: { is1904: boolean }) {
    this.#is1904 = is1904
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'cellXfs') this.#inCellStyles = true
    if (name === 'numFmt' && this.#custom.size < formatsMax) {
      this.#custom.set(Number(attributes.numFmtId), shapeOf(attributes.formatCode ?? ''))
    }
    if (name === 'xf' && this.#inCellStyles && this.#styles.length < formatsMax) {
      this.#styles.push(this.#shape(Number(attributes.numFmtId ?? 0)))
    }
  }

  close(name: string): void {
    if (name === 'cellXfs') this.#inCellStyles = false
  }

  /** A number as Excel stores it → its decimal text, or an ISO 8601 date or time where the style says so. */
  textOf(value: string, style: number): string {
    const number = Number(value)
    if (value.trim() === '' || !Number.isFinite(number)) return value
    const shape = this.#styles[style] ?? plain
    if (shape.kind === 'number') return withZeros(decimalText(value, number), shape.digits)
    return this.#momentText(number, shape.kind) ?? decimalText(value, number)
  }

  #shape(id: number): Shape {
    const custom = this.#custom.get(id)
    if (custom) return custom
    const found = builtIn.find(({ from, to }) => id >= from && id <= to)
    return found ?? plain
  }

  /** Undefined for what is no date: negative, beyond the year 9999, or the 29 February 1900 that never was. */
  #momentText(days: number, kind: 'date' | 'time' | 'date-time' | 'elapsed'): string | undefined {
    const seconds = Math.round(days * secondsPerDay)
    if (seconds < 0 || days >= daysMax) return undefined
    if (kind === 'elapsed') {
      const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
      return [hours, minutes, seconds % 60].map((part) => String(part).padStart(2, '0')).join(':')
    }
    const whole = Math.floor(seconds / secondsPerDay)
    if (!this.#is1904 && kind !== 'time' && whole === 60) return undefined
    const firstDay = this.#is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, whole < 60 ? 31 : 30)
    const iso = new Date(firstDay + seconds * 1000).toISOString()
    if (kind === 'date') return iso.slice(0, 10)
    return kind === 'time' ? iso.slice(11, 19) : iso.slice(0, 19)
  }
}

/**
 * Excel shows 15 digits; the further ones that it stores are the noise of binary numbers. Never with an exponent:
 * long numbers are ids and barcodes.
 */
function decimalText(value: string, number: number): string {
  if (/^-?(0|[1-9]\d{0,14})$/.test(value)) return value
  const rounded = Number(number.toPrecision(15))
  const text = String(rounded)
  if (!text.includes('e')) return text
  if (Number.isInteger(rounded)) return BigInt(rounded).toString()
  return rounded.toFixed(20).replace(/0+$/, '')
}

/** Ids and postal codes. What is negative or has decimals would be no number any more. */
function withZeros(text: string, digits: number): string {
  return /^\d+$/.test(text) ? text.padStart(digits, '0') : text
}

/** Letters in quotes, after a backslash and in brackets are text or colours, but for `[h]`, which is a span of time. */
function shapeOf(code: string): Shape {
  const first = code.replace(/"[^"]*"|\\.|[_*]./gs, '').split(';')[0] ?? ''
  if (/\[(h+|m+|s+)\]/i.test(first)) return { kind: 'elapsed' }
  const letters = first.replace(/\[[^\]]*\]/g, '')
  if (/^0{2,}$/.test(letters)) return { kind: 'number', digits: letters.length }
  if (/general/i.test(letters)) return plain
  const hasTime = /[hs]/i.test(letters) || /AM\/PM|A\/P/i.test(letters)
  const hasDate = /[yd]/i.test(letters) || (/m/i.test(letters) && !hasTime)
  if (hasDate) return { kind: hasTime ? 'date-time' : 'date' }
  return hasTime ? { kind: 'time' } : plain
}
