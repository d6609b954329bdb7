import { type Columns, columnsOf } from './compiled-rule.ts'

/** By column: what it is called in other files. */
export type Aliases = Readonly<Record<string, readonly string[]>>

/** The columns of a file under the names that rules use. */
export interface NamedColumns extends Columns {
  /**
   * In objects every column has a place, whether the object has such a key or not: what is not there under its own name
   * is taken from under the others. Answers the same cells where nothing is.
   */
  fill(cells: readonly unknown[]): readonly unknown[]
}

/**
 * A column that is not there is looked for under its other names, and then without regard to upper and lower case,
 * blanks, "_" and "-".
 */
export function openAliases(names: readonly string[], aliases: Aliases | undefined): NamedColumns {
  const { placeOf } = columnsOf(names)
  if (!aliases) return { names, placeOf, fill: (cells) => cells }
  const folded = columnsOf(names.map(fold))
  const others = new Map<string, number>()
  const fillers: [own: number, others: readonly number[]][] = []
  for (const [name, alternatives] of Object.entries(aliases)) {
    const places = alternatives.map(placeOf).filter((place) => place !== undefined)
    const own = placeOf(name)
    if (own !== undefined) {
      if (places.length > 0) fillers.push([own, places])
      continue
    }
    const place = places[0] ?? [name, ...alternatives].map((one) => folded.placeOf(fold(one))).find(isPlace)
    if (place !== undefined) others.set(name, place)
  }
  return {
    names,
    placeOf: (name) => placeOf(name) ?? others.get(name),
    fill: fillers.length === 0 ? (cells) => cells : (cells) => fillCells(cells, fillers),
  }
}

/** The other names of columns that rules need: objects are asked for them too. */
export function withAliases(columns: readonly string[], aliases: Aliases | undefined): string[] {
  return [
    ...new Set(
      columns.flatMap((name) => [
        name,
        ...(aliases && Object.hasOwn(aliases, name) ? (aliases[name] ?? []) : []),
      ]),
    ),
  ]
}

function fillCells(
  cells: readonly unknown[],
  fillers: readonly (readonly [own: number, others: readonly number[]])[],
): readonly unknown[] {
  let filled: unknown[] | undefined
  for (const [own, others] of fillers) {
    if (cells[own] !== undefined) continue
    const place = others.find((other) => cells[other] !== undefined)
    if (place === undefined) continue
    filled ??= [...cells]
    filled[own] = cells[place]
  }
  return filled ?? cells
}

function isPlace(place: number | undefined): place is number {
  return place !== undefined
}

function fold(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
}
