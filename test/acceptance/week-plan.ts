import type { SeededRandom } from '../fault/random.ts'
import type { Said, Statement, WeekFeed } from './week-model.ts'
import type { WeekShop } from './week-shop.ts'
import { catalogueCsv, catalogueXml, gzipped, pricesCsv, stockCsv, stockNdjson } from './week-text.ts'

export interface WeekFile {
  feed: WeekFeed
  name: string
  content: string | Buffer
  /** What holds once the file was imported; undefined: nothing of it is applied. */
  statement?: Statement
  outcome: 'imported' | 'held' | 'late' | 'refused'
  /** Records that cannot be read. */
  rejected: number
  /** Means something only once all that was dropped before is imported. */
  comesAlone?: true
  /** What the operator says to it a while later. */
  decision?: 'approve' | 'discard'
}

interface Options {
  random: SeededRandom
  shop: WeekShop
  days: number
}

const minutesADay = 24 * 60
const startMs = Date.UTC(2024, 2, 4)

/** All files of the days, as the three exporters write them one after the other. */
export function planWeek(options: Options): WeekFile[] {
  const files: WeekFile[] = []
  const planner = new Planner(options)
  files.push(...planner.begin())
  for (let minute = 5; minute <= options.days * minutesADay; minute += 5) files.push(...planner.at(minute))
  return files
}

class Planner {
  readonly #random: SeededRandom
  readonly #shop: WeekShop
  #now = 0
  #stock: Said[][] = []
  /** The catalogue has named products since the prices spoke last. */
  #hasNews = true

  constructor({ random, shop }: Options) {
    this.#random = random
    this.#shop = shop
  }

  begin(): WeekFile[] {
    return [...this.#stockFiles(), this.#fullCatalogue()]
  }

  at(minute: number): WeekFile[] {
    this.#now = minute
    const files = this.#stockFiles()
    const [hour, past] = [Math.floor((minute % minutesADay) / 60), minute % 60]
    if (past === 0) files.push(...this.#hourly(hour))
    if (past === 30 && hour % 4 === 2) files.push(this.#correction())
    // The first day has everything that can go wrong, the others some of it.
    const goesWrong = minute < minutesADay || this.#random.chance(0.4)
    if (past === 15 && goesWrong) files.push(...this.#trouble(hour))
    return files
  }

  #hourly(hour: number): WeekFile[] {
    if (hour === 2) {
      this.#shop.passNight()
      return [this.#fullCatalogue(), this.#prices('all', this.#shop.allPrices())]
    }
    // More new prices at once than the feed has products would be held: the first file names them all.
    if (this.#now === 60) return [this.#prices('all', this.#shop.allPrices())]
    return [this.#prices('some', this.#shop.newPrices(hour === 1 ? 0.3 : 0.05))]
  }

  #trouble(hour: number): WeekFile[] {
    const nothing = { feed: 'catalogue', rejected: 0 } as const
    switch (hour) {
      case 4:
        return [{ ...nothing, name: this.#name('full.csv'), content: catalogueCsv([]), outcome: 'held' }]
      case 5: {
        const whole = catalogueXml(this.#shop.nightly())
        const name = this.#name(this.#random.pick(['full.xml', 'full.xml.gz']))
        const bytes = name.endsWith('gz') ? gzipped(whole) : Buffer.from(whole)
        const content = bytes.subarray(0, bytes.length * (0.05 + 0.9 * this.#random.next()))
        return [{ ...nothing, name, content, outcome: 'refused' }]
      }
      case 7: {
        const others = this.#shop.nightly().map((one) => ({ id: `ERP-${one.id}`, fields: one.fields }))
        const content = catalogueCsv(others)
        const decision = this.#random.chance(0.7) ? { decision: 'discard' as const } : {}
        return [{ ...nothing, name: this.#name('full.csv'), content, outcome: 'held', ...decision }]
      }
      case 8:
        return this.#late()
      case 9: {
        // The same of all products, and a delta that comes before the operator has looked at it.
        const held = this.#prices('some', this.#shop.newPrices(1))
        return [{ ...held, decision: 'approve' }, this.#prices('then', this.#shop.newPrices(0.1))]
      }
      default:
        return []
    }
  }

  /** From before the last full file, as from an exporter that hung. */
  #late(): WeekFile[] {
    const now = this.#now
    this.#now = now - (now % minutesADay) + 90
    const late = { outcome: 'late', rejected: 0, comesAlone: true } as const
    const old = this.#shop.nightly().map(({ id, fields }) => ({ id, fields: { ...fields, name: 'Old' } }))
    const prices = this.#shop.allPrices().map(({ id }) => ({ id, fields: { price: 1, list_price: 2 } }))
    const { statement: _, ...table } = this.#prices('late', prices)
    const files: WeekFile[] = [
      { feed: 'catalogue', name: this.#name('full.xml'), content: catalogueXml(old), ...late },
      { feed: 'catalogue', name: this.#name('delta.csv'), content: catalogueCsv(old), ...late },
      { ...table, ...late },
    ]
    this.#now = now
    return files
  }

  #stockFiles(): WeekFile[] {
    const random = this.#random
    const stamp = this.#stamp()
    const earlier = random.chance(0.02) ? random.pick([undefined, ...this.#stock]) : undefined
    const said = earlier ?? this.#shop.movements()
    if (earlier) this.#shop.repeat(earlier)
    this.#stock = [...this.#stock.slice(-20), said]
    const isJson = random.chance(0.15)
    const text = isJson ? stockNdjson(said) : stockCsv(said)
    const name = `stock_${stamp}.${isJson ? 'ndjson' : 'csv'}`
    const file = { feed: 'stock', mode: 'delta', said } as const
    return [this.#file(file, random.chance(0.05) ? `${name}.gz` : name, text)]
  }

  #fullCatalogue(): WeekFile {
    return this.#catalogue('full', this.#shop.nightly())
  }

  #correction(): WeekFile {
    return this.#catalogue('delta', this.#shop.corrections())
  }

  #catalogue(mode: 'full' | 'delta', said: readonly Said[]): WeekFile {
    const isXml = this.#random.chance(0.5)
    const text = isXml ? catalogueXml(said) : catalogueCsv(said)
    const suffix = this.#random.chance(0.4) ? '.gz' : ''
    for (const { id, isBad } of said) if (!isBad) this.#shop.catalogued.add(id)
    this.#hasNews = true
    const name = this.#name(`${mode}.${isXml ? 'xml' : 'csv'}${suffix}`)
    return this.#file({ feed: 'catalogue', mode, said }, name, text)
  }

  #prices(kind: string, said: Said[]): WeekFile {
    const stand = this.#iso().replace(/^(....)-(..)-(..)T(..:..).*/, '$3.$2.$1 $4')
    const eanOf = (id: string) => this.#shop.eanOf(id)
    const mode = kind === 'all' ? 'full' : 'delta'
    const bad: Said[] = this.#random.chance(0.1)
      ? [{ id: 'none-9999999', fields: { price: 1 }, isBad: true }]
      : []
    // The first record tells the time, so a rejected one stands behind it.
    const content = pricesCsv({ said: [...said, ...bad], eanOf, stand })
    const file = this.#file(
      { feed: 'prices', mode, said: [...said, ...bad] },
      `${kind === 'all' ? 'full' : 'delta'}_${this.#stamp()}_${kind}.txt`,
      content,
    )
    const hadNews = this.#hasNews
    this.#hasNews = false
    return hadNews ? { ...file, comesAlone: true } : file
  }

  #file(statement: Statement, name: string, content: string | Buffer): WeekFile {
    const rejected = statement.said.filter(({ isBad }) => isBad).length
    const bytes = name.endsWith('.gz') ? gzipped(content) : content
    return { feed: statement.feed, name, content: bytes, statement, outcome: 'imported', rejected }
  }

  #name(rest: string): string {
    const [mode, ...types] = rest.split('.')
    return `${mode}_${this.#stamp()}.${types.join('.')}`
  }

  #stamp(): string {
    return this.#iso().slice(0, 16).replaceAll(/[-:]/g, '')
  }

  #iso(): string {
    return new Date(startMs + this.#now * 60_000).toISOString()
  }
}
