import { z } from 'zod'
import { seedAssets } from './asset-seed.ts'
import { StackTable, type StackTableData, stackTableSchema } from './stack-table.ts'
import { seedUsers } from './stack-user-seed.ts'
import { seedTiles } from './tile-seed.ts'

const stackTableNames = ['rules', 'views', 'users', 'terms', 'tiles', 'assets'] as const
export type StackTableName = (typeof stackTableNames)[number]

export const stackDataSchema = z.object({
  rules: stackTableSchema,
  views: stackTableSchema,
  users: stackTableSchema,
  terms: stackTableSchema,
  tiles: stackTableSchema,
  assets: stackTableSchema,
})
export type StackData = z.infer<typeof stackDataSchema>

/**
 * What the Stack holds, in memory. Without data it begins with people, tiles and assets that are the same every time,
 * and without rules, views and terms.
 */
export class StackStore {
  readonly tables: Readonly<Record<StackTableName, StackTable>>
  #revision = 0

  constructor(data: StackData = seedStack()) {
    const changed = () => {
      this.#revision += 1
    }
    this.tables = mapTables((name) => new StackTable(data[name], changed))
  }

  /** Goes up with every change: whoever writes the data down sees by it whether there is something new. */
  get revision(): number {
    return this.#revision
  }

  /** Back to the beginning. */
  clear(): void {
    const seed = seedStack()
    for (const name of stackTableNames) this.tables[name].load(seed[name])
    this.#revision += 1
  }

  toJSON(): StackData {
    return mapTables((name) => this.tables[name].toJSON())
  }
}

function seedStack(): StackData {
  const empty: StackTableData = { nextId: 1, records: [] }
  return {
    rules: empty,
    views: empty,
    terms: empty,
    users: tableOf(seedUsers()),
    tiles: tableOf(seedTiles()),
    assets: tableOf(seedAssets()),
  }
}

function tableOf(records: StackTableData['records']): StackTableData {
  return { nextId: Math.max(0, ...records.map(({ id }) => id)) + 1, records }
}

function mapTables<Value>(map: (name: StackTableName) => Value): Record<StackTableName, Value> {
  return Object.fromEntries(stackTableNames.map((name) => [name, map(name)])) as Record<StackTableName, Value>
}
