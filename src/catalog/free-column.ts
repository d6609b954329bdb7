import type { Columns } from './compiled-rule.ts'

/** A name with this mark behind it is of a column that may be absent; a column may be called so itself. */
const freeMark = '?'

export function isFree(name: string): boolean {
  return name.endsWith(freeMark)
}

/** The names under which a column that a rule names may stand in a file. */
export function namesOf(name: string): readonly string[] {
  return isFree(name) ? [name, name.slice(0, -freeMark.length).trim()] : [name]
}

/** In objects every name has a place, whether they have such a key or not. */
export function findPlaces({ placeOf }: Pick<Columns, 'placeOf'>, name: string): readonly number[] {
  return namesOf(name)
    .map(placeOf)
    .filter((place) => place !== undefined)
}

export function cellAt(cells: readonly unknown[], places: readonly number[]): unknown {
  for (const place of places) if (cells[place] !== undefined) return cells[place]
  return undefined
}
