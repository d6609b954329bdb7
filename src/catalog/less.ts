import type { FieldRule } from '../config/rule-model.ts'
import type { CoerceOptions } from './coerce-options.ts'
import type { Columns } from './compiled-rule.ts'
import { findPlace } from './free-column.ts'
import { splitMoney } from './money-text.ts'
import { parseNumberText } from './number-text.ts'
import { Problem } from './problem.ts'
import { textOf } from './text-of.ts'

type Discount = 'percent' | 'amount'

/** Takes what the cells name off a number. */
export type TakeOff = (value: number, cells: readonly unknown[]) => number | Problem

export interface Less {
  /** Those with the discounts, as the rule names them. */
  columns: readonly string[]
  bind(columns: Columns): TakeOff
}

/** Prices are rounded so; more digits than these are no price. */
const decimals = 2

export function compileLess(
  less: NonNullable<FieldRule['less']>,
  options: Pick<CoerceOptions, 'locale' | 'describe'>,
): Less {
  const named = (['percent', 'amount'] as const).flatMap((kind) => {
    const column = less[kind]
    return column === undefined ? [] : [{ kind, column }]
  })
  return {
    columns: named.map(({ column }) => column),
    bind: (columns) => {
      const placed = named.flatMap(({ kind, column }) => {
        const place = findPlace(columns, column)
        return place === undefined ? [] : [{ kind, column, place }]
      })
      return (value, cells) => {
        let rest = value
        for (const { kind, column, place } of placed) {
          const discount = readDiscount(cells[place], { kind, column }, options)
          if (discount instanceof Problem) return discount
          if (discount === 0) continue
          rest = rounded(kind === 'percent' ? rest * (1 - discount / 100) : rest - discount)
        }
        return rest < 0 ? tooMuch(value, rest) : rest
      }
    },
  }
}

/** Nothing is no discount. */
function readDiscount(
  cell: unknown,
  { kind, column }: { kind: Discount; column: string },
  { locale, describe }: Pick<CoerceOptions, 'locale' | 'describe'>,
): number | Problem {
  const text = cell === undefined || cell === null ? '' : textOf(cell)?.trim()
  if (text === '') return 0
  const digits =
    typeof cell === 'number'
      ? text
      : (text && (kind === 'percent' ? text.replace(/\s*%$/, '') : splitMoney(text)?.amount)) || undefined
  const read = digits === undefined ? undefined : parseNumberText(digits, locale)
  const number = typeof read === 'string' ? Number(read) : Number.NaN
  if (number >= 0 && (kind === 'amount' || number <= 100)) return number
  const wanted = kind === 'percent' ? 'a percentage from 0 to 100' : 'an amount to take off'
  const remedy = 'correct it, or leave the cell empty'
  const found = `found ${describe(cell)} in column ${JSON.stringify(column)}, expected ${wanted}`
  return new Problem('not-a-discount', { found, remedy }, '', { value: cell })
}

/** Half a unit goes up; binary fractions have no exact halves. */
function rounded(value: number): number {
  const factor = 10 ** decimals
  return Math.round(Number((value * factor).toFixed(6))) / factor
}

function tooMuch(value: number, rest: number): Problem {
  const found = `found ${value}, of which the discount leaves ${rest}`
  return new Problem('not-a-discount', { found, remedy: 'correct the discount or the price' })
}
