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
  /** For a reader that is given only what these names need: every column once, whichever names mean it. */
  pick(names: readonly string[]): PickedColumns
}

interface PickedColumns {
  /** Places in the file. */
  indices: readonly number[]
  /** The same names for cells of which `cells[i]` is that of the column at `indices[i]`. */
  columns: NamedColumns
}

type Filler = readonly [own: number, others: readonly number[]]

/**
 * A column that is not there is looked for under its other names, and then without regard to upper and lower case,
 * blanks, "_" and "-".
 */
export function openAliases(names: readonly string[], aliases: Aliases | undefined): NamedColumns {
  const { placeOf } = columnsOf(names)
  if (!aliases) return namedColumns(names, placeOf, { aliases, fillers: [] })
  const folded = columnsOf(names.map(fold))
  const others = new Map<string, number>()
  const fillers: Filler[] = []
  for (const [name, alternatives] of Object.entries(aliases)) {
    const own = placeOf(name)
    const alike = [name, ...alternatives].map((one) => folded.placeOf(fold(one)))
    const places = [...alternatives.map(placeOf), ...alike].filter(isPlace).filter((place) => place !== own)
    const [first] = places
    if (first === undefined) continue
    if (own === undefined) others.set(name, first)
    else fillers.push([own, places])
  }
  return namedColumns(names, (name) => placeOf(name) ?? others.get(name), { aliases, fillers })
}

function namedColumns(
  names: readonly string[],
  placeOf: Columns['placeOf'],
  { aliases, fillers }: { aliases: Aliases | undefined; fillers: readonly Filler[] },
): NamedColumns {
  return {
    names,
    placeOf,
    fill: fillers.length === 0 ? (cells) => cells : (cells) => fillCells(cells, fillers),
    pick(wanted) {
      const indices = [...new Set(withAliases(wanted, aliases).map(placeOf).filter(isPlace))]
      const among = (place: number | undefined) => {
        const at = place === undefined ? -1 : indices.indexOf(place)
        return at < 0 ? undefined : at
      }
      const picked = fillers.flatMap(([own, others]): Filler[] => {
        const at = among(own)
        return at === undefined ? [] : [[at, others.map(among).filter(isPlace)]]
      })
      const columns = namedColumns(
        indices.map((index) => names[index] ?? ''),
        (name) => among(placeOf(name)),
        { aliases, fillers: picked },
      )
      return { indices, columns }
    },
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

function fillCells(cells: readonly unknown[], fillers: readonly Filler[]): readonly unknown[] {
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
