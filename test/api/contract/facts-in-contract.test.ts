import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { paragraphsOf, parseTables, quotedIn, type Table } from './facts/contract-tables.ts'
import { credentialsFacts, endpointFacts, limitFacts, parameterFacts } from './facts/endpoints.ts'
import type { FactType, FieldFact, Resource } from './facts/fact.ts'
import { fieldFacts } from './facts/facts.ts'
import { termTypeFacts } from './facts/terms.ts'

const contract = new URL('../../../../shared/api/contract.md', import.meta.url)
const markdown = existsSync(contract) ? readFileSync(contract, 'utf8') : ''
const tables = parseTables(markdown)
const paragraphs = paragraphsOf(markdown)

/** How the contract writes the types, in our words. */
const types: Record<string, FactType> = {
  string: 'text',
  'string (URL)': 'url',
  '—': 'text',
  enum: 'text',
  integer: 'integer',
  'integer flag': 'flag',
  number: 'number',
  boolean: 'boolean',
  bool: 'boolean',
  'documented as boolean': 'boolean or text',
  object: 'object',
  array: 'list',
  'array of string': 'texts',
  'array of string (URL)': 'urls',
  'array of SKU objects': 'objects',
  'array of product objects': 'objects',
  'string or array': 'text or list',
  timestamp: 'timestamp',
  datetime: 'timestamp',
}

// The contract calls these by the type of what holds them; what they hold is in its notes.
const holders: Record<string, string> = { action: 'list', custom_fields: 'object' }

const tableOf = (section: string, first: string) =>
  tables.filter((table) => table.section === section && table.columns[0] === first)

const rowsOf = (section: string, first = 'Field') => tableOf(section, first).flatMap(({ rows }) => rows)

const factsOf = (resource: Resource) => fieldFacts.filter((fact) => fact.resource === resource)

const flagsOf = ({ read, create, update }: FieldFact) =>
  [read && 'read', create && 'create', update && 'update'].filter(Boolean).join(' ')

const requiredOf = ({ required }: FieldFact) =>
  required === undefined ? 'no' : required === 'shopify' ? 'shopify' : required === true ? 'yes' : 'sometimes'

function typeOf(fact: FieldFact): string {
  const type = holders[fact.field] ?? fact.type
  return `${type}${fact.nullable ? ' or null' : ''}`
}

function contractTypeOf(words: string): string {
  const nullable = / or null$|, or null$/.test(words)
  const bare = words.replace(/,? or null$/, '')
  return `${types[bare] ?? `unknown type ${words}`}${nullable ? ' or null' : ''}`
}

const wordsOf = ({ values, seen, words, required, default: byDefault }: FieldFact) =>
  [values, seen, words, typeof required === 'object' ? required.whenType : undefined, byDefault]
    .flat()
    .map(String)

const requiredWords = (cell: string) =>
  cell.startsWith('yes') ? 'yes' : cell.includes('Shopify') ? 'shopify' : 'no'

/** One line for each row and each fact; the two lists must be the same. */
const lines: Record<string, { rows: () => string[]; facts: () => string[] }> = {
  'Automation rule': {
    rows: () =>
      rowsOf('Automation rule').map(
        (row) => `${row.Field} ${contractTypeOf(row.Type ?? '')} ${row.Required}`,
      ),
    facts: () => factsOf('rule').map((fact) => `${fact.field} ${typeOf(fact)} ${requiredOf(fact)}`),
  },
  'Moderation view': {
    rows: () => [...rowsOf('Moderation view').flatMap(viewRow), ...viewColumnLines()],
    facts: () => factsOf('view').map((fact) => `${fact.field} ${typeOf(fact)} ${flagsOf(fact)}`),
  },
  User: {
    rows: () =>
      rowsOf('User').map((row) => {
        const flags = row['Writable via PUT'] === 'yes' ? 'read update' : 'read'
        return `${row.Field} ${contractTypeOf(row.Type ?? '')} ${flags}`
      }),
    facts: () => factsOf('user').map((fact) => `${fact.field} ${typeOf(fact)} ${flagsOf(fact)}`),
  },
  Term: {
    rows: () => rowsOf('Term').map(termRow),
    facts: () =>
      factsOf('term').map((fact) => `${fact.field} ${typeOf(fact)} ${flagsOf(fact)} ${requiredOf(fact)}`),
  },
  'Term types': {
    rows: () =>
      rowsOf('Term', 'type').map((row) => `${row.type}: ${row.networks?.replace(/^\(.*\)$/, 'not listed')}`),
    facts: () =>
      termTypeFacts.map(({ type, networks }) =>
        typeof networks === 'string' ? `${type}: ${networks}` : `${type}: ${networks.join(', ')}`,
      ),
  },
  Product: {
    rows: () =>
      rowsOf('Product').flatMap((row) =>
        (row.Field ?? '')
          .split(', ')
          .map((field) => `${field} ${contractTypeOf(row.Type ?? '')} ${row.Required}`),
      ),
    facts: () => factsOf('product').map((fact) => `${fact.field} ${typeOf(fact)} ${requiredOf(fact)}`),
  },
  'Shopper-intent request': {
    rows: () =>
      rowsOf('Shopper-intent request and response')
        .filter((row) => row.Required !== undefined)
        .map((row) => `${row.Field} ${contractTypeOf(row.Type ?? '')} ${requiredWords(row.Required ?? '')}`),
    facts: () => factsOf('intent-request').map((fact) => `${fact.field} ${typeOf(fact)} ${requiredOf(fact)}`),
  },
  'Shopper-intent response': {
    rows: () =>
      rowsOf('Shopper-intent request and response')
        .filter((row) => row.Required === undefined)
        .map((row) => `${row.Field} ${contractTypeOf(row.Type ?? '')}`),
    facts: () => factsOf('intent-response').map((fact) => `${fact.field} ${typeOf(fact)}`),
  },
  Endpoints: {
    rows: () => [...endpointRows(), ...endpointsInText()],
    facts: () =>
      endpointFacts.map(({ method, path, credentialsInQuery }) =>
        [method, path, credentialsInQuery ? 'access_token, stack' : ''].join(' ').trim(),
      ),
  },
  Parameters: {
    rows: () =>
      [
        ...rowsOf('Users', 'Method'),
        ...rowsOf('Terms', 'Method'),
        ...rowsOf('Moderation views', 'Method'),
      ].flatMap(parameterRows),
    facts: () =>
      parameterFacts.map((fact) => {
        const { method, path } = endpointOf(fact.endpoint)
        const values = fact.in === 'path' ? [] : [fact.default, fact.range?.max, ...(fact.values ?? [])]
        const shown = new Set(values.filter((value) => value !== undefined).map(String))
        return [method, path, fact.parameter, ...[...shown].toSorted()].join(' ')
      }),
  },
  Limits: {
    rows: () =>
      rowsOf('Limits', 'Limit').map((row) => {
        const numbers = [...(row.Value ?? '').matchAll(/\d+/g)].map(([number]) => number)
        return [row.Limit?.replaceAll('`', '').replace(/ page size$/, ''), ...numbers.toSorted()].join(' ')
      }),
    facts: () =>
      limitFacts.map(({ limit, ...fact }) => {
        const numbers = [fact.default, fact.min, fact.max].filter((one) => one !== undefined).map(String)
        return [limit, ...numbers.toSorted()].join(' ')
      }),
  },
  Authentication: {
    rows: () => rowsOf('Authentication', 'Interface').map((row) => row.Interface ?? ''),
    facts: () => credentialsFacts.map((fact) => fact.interface),
  },
}

function viewRow(row: Readonly<Record<string, string>>): string[] {
  const isWriteOnly = row.Read === undefined
  const read = row.Read === 'yes'
  const write =
    isWriteOnly || Object.entries(row).some(([column, cell]) => column.startsWith('Write') && cell === 'yes')
  const flags = [read ? 'read' : '', write ? 'create update' : ''].filter(Boolean).join(' ')
  return [`${row.Field} ${contractTypeOf(row.Type ?? '')} ${flags}`]
}

function viewColumnLines(): string[] {
  const listed = paragraphs.find((line) => line.includes('`columns_select_col`')) ?? ''
  return quotedIn(listed).map((field) => `${field} boolean create update`)
}

function termRow(row: Readonly<Record<string, string>>): string {
  const isCreated = row.POST?.startsWith('yes') === true
  const flags = ['read', isCreated ? 'create' : '', row.PUT === 'yes' ? 'update' : '']
    .filter(Boolean)
    .join(' ')
  const required = row.POST?.includes('required')
    ? 'yes'
    : row.Notes?.startsWith('Required on')
      ? 'sometimes'
      : 'no'
  return `${row.Field} ${contractTypeOf(row.Type ?? '')} ${flags} ${required}`
}

function endpointRows(): string[] {
  return tables
    .filter(({ columns }) => columns[0] === 'Method')
    .flatMap(({ rows }) => rows)
    .map((row) =>
      [row.Method, quotedIn(row.Path ?? '')[0], quotedIn(row.Query ?? '').join(', ')].join(' ').trim(),
    )
}

function endpointsInText(): string[] {
  return paragraphs
    .map((line) => /^- `((?:POST|PUT|GET) [^`]+)`$/.exec(line)?.[1])
    .filter((line) => line !== undefined)
}

function parameterRows(row: Readonly<Record<string, string>>): string[] {
  const operation = `${row.Method} ${quotedIn(row.Path ?? '')[0]}`
  const inPath = [...(row.Path ?? '').matchAll(/:(\w+)/g)].map(([, name]) => `${operation} ${name}`)
  const [, list = ''] = /^query \([^)]*\): (.*)$/.exec(row.Parameters ?? '') ?? []
  const inQuery = list
    // A parenthesis may hold semicolons of its own.
    .split(/;(?![^(]*\))/)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [name = '', ...values] = quotedIn(part)
      const numbers = [...part.matchAll(/(?:default|maximum) (\d+)/g)].map(([, number]) => number ?? '')
      return [operation, name, ...[...new Set([...values, ...numbers])].toSorted()].join(' ')
    })
  return [...inPath, ...inQuery]
}

function endpointOf(name: string) {
  const found = endpointFacts.find(({ endpoint }) => endpoint === name)
  if (found === undefined) throw new Error(`no fact about the endpoint ${name}`)
  return found
}

// The contract is not part of the published project.
describe.skipIf(markdown === '')('the facts and the tables of the contract', () => {
  it.each(Object.entries(lines))('agree row by row: %s', (_, { rows, facts }) => {
    expect(rows().length).toBeGreaterThan(2)
    expect(facts().toSorted()).toEqual(rows().toSorted())
  })

  it('leave no table out', () => {
    const read = new Set(Object.keys(lines))
    const sections = tables.map(({ section, columns }: Table) =>
      columns[0] === 'Method' ? 'Endpoints' : section,
    )
    const named = sections.map((section) =>
      section === 'Shopper-intent request and response' ? 'Shopper-intent request' : section,
    )
    for (const section of named) expect(read).toContain(section)
    expect(tables).toHaveLength(16)
  })

  it('name the same values, defaults and ranges in the notes', () => {
    const rows = tables
      .filter(({ columns }) => columns[0] === 'Field')
      .flatMap(({ section, rows }) => rows.map((row) => ({ section, row })))
    for (const { section, row } of rows) {
      const resources = resourcesOf[section] ?? []
      const fields = (row.Field ?? '').split(', ')
      const found = fieldFacts.filter(
        (fact) => resources.includes(fact.resource) && fields.includes(fact.field),
      )
      expect(found.length, `${section}: ${row.Field}`).toBeGreaterThan(0)
      for (const fact of found) {
        const words = wordsOf(fact)
        for (const quoted of quotedIn(row.Notes ?? ''))
          expect(words, `${section}: ${row.Field}`).toContain(quoted)
        const [, byDefault] = /default (\d+)/i.exec(row.Notes ?? '') ?? []
        if (byDefault !== undefined) expect(fact.default).toBe(Number(byDefault))
        const [, min, max] = /range (\d+) to (\d+)/.exec(row.Notes ?? '') ?? []
        expect(fact.range).toEqual(min === undefined ? undefined : { min: Number(min), max: Number(max) })
        const known = ['values', 'seen'] as const
        if (
          known.some((list) => fact[list] !== undefined) &&
          row.Notes !== 'same values' &&
          fact.field !== 'type'
        ) {
          for (const value of [...(fact.values ?? []), ...(fact.seen ?? [])])
            expect(quotedIn(row.Notes ?? '')).toContain(String(value))
        }
      }
    }
  })

  it.each([
    ['variation', /^Variation object fields/],
    ['sku', /^SKU object fields/],
    ['recommendation', /^Product object in/],
    ['recommended-sku', /^Product object in/],
  ] as const)('name the same fields of a %s in running text', (resource, beginning) => {
    const paragraph = paragraphs.find((line) => beginning.test(line)) ?? ''
    const [product = '', sku = ''] = paragraph.split('SKU object: ')
    const text = resource === 'recommended-sku' ? sku : product
    const listed = quotedIn(text).filter((name) => name !== 'agentProductRecommendations')
    expect(listed.length).toBeGreaterThan(3)
    expect(
      factsOf(resource)
        .map(({ field }) => field)
        .toSorted(),
    ).toEqual(listed.toSorted())
  })

  it('name the same credentials', () => {
    for (const row of rowsOf('Authentication', 'Interface')) {
      const fact = credentialsFacts.find((one) => one.interface === row.Interface)
      const quoted = quotedIn(row.Mechanism ?? '')
      for (const name of fact?.names ?? []) expect(quoted).toContain(name)
      const expected = /query/i.test(row.Mechanism ?? '')
        ? 'query'
        : quoted.some((one) => one.includes('Bearer'))
          ? 'bearer'
          : 'basic, empty user'
      expect(fact?.mechanism).toBe(expected)
    }
  })
})

const resourcesOf: Record<string, readonly Resource[]> = {
  'Automation rule': ['rule'],
  'Moderation view': ['view'],
  User: ['user'],
  Term: ['term'],
  Product: ['product'],
  'Shopper-intent request and response': ['intent-request', 'intent-response'],
}
