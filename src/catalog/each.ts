import type { FieldKind } from '../api/contract/kinds.ts'
import { fieldKinds, type ProductField } from '../api/contract/product.ts'
import type { FieldRule } from '../config/rule-model.ts'
import { isAbovePrice } from './above-price.ts'
import { didYouMean } from './closest-name.ts'
import { type Columns, type CompiledRule, type Compute, nothingSaid } from './compiled-rule.ts'
import { eachRow, type Member, openMembers, outerMark, withoutMark } from './members.ts'
import { currencyRemedy, noEntries, otherCurrencies, Problem, type RecordNotes } from './problem.ts'
import { compileWhere } from './where.ts'
import { inContractOrder, skuFields, sortedByKey, variationFields } from './wire-order.ts'

type Each = Extract<FieldRule['from'], { kind: 'each' }>

interface Context {
  field: ProductField
  describe: (value: unknown) => string
  problems: string[]
  /** Compiles the rule of one field of a member. */
  compile: (kind: FieldKind, name: string, rule: FieldRule, problems: string[]) => CompiledRule | undefined
  /** Holds the whole field against the contract. */
  check: (value: unknown) => unknown
}

interface Part<Ready> {
  name: string
  /** Counts only above the price. */
  abovePrice: boolean
  ready: Ready
}

/** `skus` and `variations` of the rows of a record, or of the objects of a list in it. */
export function compileEach(from: Each, rule: FieldRule, context: Context): CompiledRule | undefined {
  const { field, problems, compile } = context
  const order = field === 'skus' ? skuFields : variationFields
  const parts = Object.entries(from.item).flatMap(([name, item]): Part<CompiledRule>[] => {
    const found: string[] = []
    if (!order.includes(name)) found.push(unknownPart(name, field, order))
    const ready = found.length > 0 ? undefined : compile(kindOf(name), name, item, found)
    problems.push(...found.map((problem) => `item ${name}: ${problem}`))
    return ready ? [{ name, ready, abovePrice: item.above !== undefined }] : []
  })
  const found: string[] = []
  const key = from.key && compile('string', 'key', from.key, found)
  problems.push(...found.map((problem) => `key: ${problem}`))
  const where = rule.where && compileWhere(rule.where)
  if (parts.length < Object.keys(from.item).length || (from.key && !key)) return undefined
  const rules = [...parts.map(({ ready }) => ready), ...(key ? [key] : [])]
  const used = [...new Set([...rules.flatMap(({ columns }) => columns), ...(where?.columns ?? [])])]
  const isOfRows = from.each === eachRow
  const outer = used.filter((name) => name.startsWith(outerMark)).map((name) => name.slice(outerMark.length))
  const own = isOfRows ? used.filter((name) => !name.startsWith(outerMark)) : [from.each]
  return {
    columns: [...new Set([...own, ...outer])],
    valueColumns: isOfRows ? [] : [from.each],
    missing: (columns) => {
      if (rule.optional) return []
      return isOfRows
        ? missingOfRows(rules, where?.columns ?? [], columns)
        : absentOf([from.each, ...outer], columns)
    },
    bind: (columns) => {
      if (!isOfRows && columns.placeOf(from.each) === undefined) return () => nothingSaid
      const reader = openMembers(from, columns, { used, describe: context.describe })
      const bound = {
        order,
        parts: parts.map((part) => ({ ...part, ready: part.ready.bind(reader.columns) })),
        key: key?.bind(reader.columns),
        holds: where?.bind(reader.columns),
      }
      return (cells, notes) => {
        const members = reader.read(cells, notes)
        if (members === undefined || members instanceof Problem) return members
        const value = collect(members, bound, notes)
        return value === undefined || value instanceof Problem ? value : context.check(value)
      }
    },
    timed: rules.some(({ timed }) => timed),
  }
}

interface Bound {
  order: readonly string[]
  parts: readonly Part<Compute>[]
  key: Compute | undefined
  holds: ((cells: readonly unknown[]) => boolean) | undefined
}

/** A list, or with keys a map; undefined when no member counts. */
function collect(members: readonly Member[], bound: Bound, notes: RecordNotes): unknown {
  const list: unknown[] = []
  const ids = new Set<unknown>()
  const map = new Map<string, unknown>()
  for (const member of members) {
    if (bound.holds && !bound.holds(member.cells)) continue
    const own: RecordNotes = { ...notes, rows: undefined, source: member.source, ...noEntries() }
    if (bound.key) own.currencies = []
    const key = bound.key?.(member.cells, own)
    const value = key instanceof Problem ? key : readMember(member.cells, bound, own)
    const place = typeof key === 'string' ? `.${key}` : `[${list.length}]`
    if (value instanceof Problem)
      return value.with({ text: value.text + member.place, path: place + (value.path ?? '') })
    if (!bound.key) {
      const { id } = value as { id?: unknown }
      if (ids.has(id)) notes.warnings.push(repeated('id', id, 'both go out'))
      if (id !== undefined) ids.add(id)
      list.push(value)
      continue
    }
    if (typeof key !== 'string')
      return new Problem('key-empty', {
        found: `found a member without a key${member.place}`,
        remedy: 'give it one, or leave it out with where',
      })
    if (map.has(key)) notes.warnings.push(repeated('key', key, 'the last member counts'))
    map.set(key, value)
  }
  if (bound.key) return map.size === 0 ? undefined : sortedByKey(Object.fromEntries(map))
  return list.length === 0 ? undefined : list
}

function repeated(what: string, value: unknown, outcome: string): Problem {
  return new Problem('repeated-key', `found the ${what} ${JSON.stringify(value)} more than once: ${outcome}`)
}

function readMember(cells: readonly unknown[], { parts, order, key }: Bound, notes: RecordNotes): unknown {
  const entries: [string, unknown][] = []
  for (const { name, ready } of parts) {
    const value = ready(cells, notes)
    if (value instanceof Problem) return value.below(`.${name}`)
    if (value !== undefined && value !== nothingSaid) entries.push([name, value])
  }
  const content = Object.fromEntries(entries)
  const low = parts.find(({ name, abovePrice }) => abovePrice && !isAbovePrice(content[name], content.price))
  if (low) delete content[low.name]
  const member = inContractOrder(content, order)
  // A variation has a currency of its own; the amounts of SKUs are held against that of the product.
  const [other] = key ? otherCurrencies(notes, member.price_currency_code) : []
  if (!other) return member
  const found = `found an amount in ${other.code}, expected ${member.price_currency_code} as in its price_currency_code`
  return new Problem('currency-mismatch', { found, remedy: currencyRemedy })
}

function kindOf(name: string): FieldKind {
  return name === 'id' ? 'string' : fieldKinds[name as ProductField]
}

function unknownPart(name: string, field: ProductField, order: readonly string[]): string {
  const what = field === 'skus' ? 'a SKU' : 'a variation'
  return `${name} is no field of ${what}${didYouMean(name, order) || `, which has ${order.join(', ')}`}`
}

/** The rules of rows see the columns of the file, and under another name those of the record, which are the same. */
function missingOfRows(rules: readonly CompiledRule[], where: readonly string[], columns: Columns): string[] {
  const placeOf = (name: string) => columns.placeOf(withoutMark(name))
  const absent = rules.flatMap((ready) => ready.missing({ names: columns.names, placeOf }))
  return [...new Set([...absent.map(withoutMark), ...absentOf(where.map(withoutMark), columns)])]
}

function absentOf(names: readonly string[], columns: Columns): string[] {
  return names.filter((name) => columns.placeOf(name) === undefined)
}
