import type { FieldRule } from '../config/rule-model.ts'
import type { CoerceOptions } from './coerce-scalar.ts'
import type { Columns } from './compiled-rule.ts'
import { cellAt, findPlaces } from './free-column.ts'
import { noteCurrency, splitMoney } from './money-text.ts'
import { parseNumberText } from './number-text.ts'
import { Problem, type RecordNotes } from './problem.ts'
import { textOf } from './text-of.ts'

type Discount = 'percent' | 'amount'

/** Takes what the cells name off a number: an amount, else a percentage. Shops that know both take only the amount. */
export type TakeOff = (value: number, cells: readonly unknown[], notes: RecordNotes) => number | Problem

export interface Less {
  /** Those with the discounts, as the rule names them. */
  columns: readonly string[]
  bind(columns: Columns): TakeOff
}

type LessOptions = Pick<CoerceOptions, 'field' | 'locale' | 'describe'>

/** A price that has more keeps them. */
const decimalsMin = 2

export function compileLess(less: NonNullable<FieldRule['less']>, options: LessOptions): Less {
  const named = (['amount', 'percent'] as const).flatMap((kind) => {
    const column = less[kind]
    return column === undefined ? [] : [{ kind, column }]
  })
  return {
    columns: named.map(({ column }) => column),
    bind: (columns) => {
      const placed = named.flatMap(({ kind, column }) => {
        const places = findPlaces(columns, column)
        return places.length === 0 ? [] : [{ kind, column, places }]
      })
      return (value, cells, notes) => {
        for (const { kind, column, places } of placed) {
          const discount = readDiscount(cellAt(cells, places), { kind, column, notes }, options)
          if (discount instanceof Problem) return discount
          if (discount === 0) continue
          const exact = kind === 'percent' ? value * (1 - discount / 100) : value - discount
          const rest = rounded(exact, Math.max(decimalsMin, decimalsOf(value)))
          return rest < 0 ? tooMuch(value, rest) : rest
        }
        return value
      }
    },
  }
}

/** Nothing is no discount. */
function readDiscount(
  cell: unknown,
  { kind, column, notes }: { kind: Discount; column: string; notes: RecordNotes },
  { field, locale, describe }: LessOptions,
): number | Problem {
  const text = cell === undefined || cell === null ? '' : textOf(cell)?.trim()
  if (text === '') return 0
  const number = typeof cell === 'number' ? cell : readText(text)
  if (number >= 0 && (kind === 'amount' || number <= 100)) return number
  const wanted = kind === 'percent' ? 'a percentage from 0 to 100' : 'an amount to take off'
  const remedy = 'correct it, or leave the cell empty'
  const found = `found ${describe(cell)} in column ${JSON.stringify(column)}, expected ${wanted}`
  return new Problem('not-a-discount', { found, remedy }, '', { value: cell })

  function readText(given = ''): number {
    const money = kind === 'amount' ? splitMoney(given) : undefined
    if (money) noteCurrency(money, { field }, notes)
    const read = parseNumberText(money?.amount ?? given.replace(/\s*%$/, ''), locale)
    return typeof read === 'string' ? Number(read) : Number.NaN
  }
}

function decimalsOf(value: number): number {
  return /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0
}

/** Half a unit goes up; binary fractions have no exact halves. */
function rounded(value: number, decimals: number): number {
  const factor = 10 ** decimals
  return Math.round(Number((value * factor).toFixed(6))) / factor
}

function tooMuch(value: number, rest: number): Problem {
  const found = `found ${value}, of which the discount leaves ${rest}`
  return new Problem('not-a-discount', { found, remedy: 'correct the discount or the price' })
}
