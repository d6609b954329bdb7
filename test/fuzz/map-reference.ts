import { isRepeated } from '../../src/records/repeated.ts'
import type { ReferenceRecord } from './read-reference.ts'

/** What is sent of a product. */
export interface ReferenceDocument {
  set: Readonly<Record<string, unknown>>
  clear: readonly string[]
}

/** By product id: what the last record with that id says, unless it is rejected. */
export function mapReference(records: readonly ReferenceRecord[]): Map<string, ReferenceDocument> {
  const documents = new Map<string, ReferenceDocument>()
  for (const { values, isRejected } of records) {
    const id = scalarOf(values.sku)
    if (typeof id !== 'string' || id.includes('\ufffd')) continue
    documents.delete(id)
    const document = isRejected ? undefined : documentOf(values)
    if (document) documents.set(id, document)
  }
  return documents
}

const wrong = Symbol('wrong')

/** Undefined where the record is rejected. */
function documentOf(values: ReferenceRecord['values']): ReferenceDocument | undefined {
  const text = scalarOf(values.url)
  const url = typeof text === 'string' ? withoutSpaces(text) : text
  const fields: Record<string, unknown> = {
    name: scalarOf(values.title),
    description: scalarOf(values.description),
    price: numberOf(values.price, /^\d{1,7}(\.\d{1,2})?$/),
    inventory_level: numberOf(values.stock, /^\d{1,6}$/),
    availability: availabilityOf(scalarOf(values.availability)),
    url: typeof url === 'string' && !isAddress(url) ? wrong : url,
    categories: categoriesOf(values.categories),
  }
  if (Object.values(fields).includes(wrong)) return undefined
  if (['name', 'price', 'availability', 'url'].some((field) => fields[field] === undefined)) return undefined
  const entries = Object.entries(fields)
  return {
    set: Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
    clear: entries.filter(([, value]) => value === undefined).map(([field]) => field),
  }
}

/** Text without white space around it; undefined for nothing. */
function scalarOf(value: unknown): string | typeof wrong | undefined {
  if (isRepeated(value)) {
    const contents = value.map(scalarOf).filter((one) => one !== undefined)
    return contents.at(-1)
  }
  const content = contentOf(value)
  if (content === null || content === undefined) return undefined
  const text = plainText(content)
  return text === undefined ? wrong : text.trim() === '' ? undefined : text.trim()
}

/** The text of an element with attributes. */
function contentOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.hasOwn(value, '#text') ? (value as Record<string, unknown>)['#text'] : value
}

function plainText(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value)
}

function numberOf(value: unknown, form: RegExp): number | typeof wrong | undefined {
  const text = scalarOf(value)
  if (typeof text !== 'string') return text
  return form.test(text) ? Number(text) : wrong
}

function availabilityOf(text: string | typeof wrong | undefined): string | typeof wrong | undefined {
  if (text === 'in stock') return 'InStock'
  return text === 'out of stock' ? 'OutOfStock' : text && wrong
}

/** Spaces behind the host are written as `%20`, but for those between two addresses. */
function withoutSpaces(text: string): string {
  const host = text.search(/(?<=^https?:\/\/.*)[/?#\\\s]/is)
  const [start, rest] = host === -1 ? [text, ''] : [text.slice(0, host), text.slice(host)]
  if (/^[\\\s]/.test(rest) || /\s+https?:/i.test(rest)) return text
  return start + [...rest].map((one) => (/\p{Zs}/u.test(one) ? encodeURIComponent(one) : one)).join('')
}

function isAddress(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: such addresses are refused
  return /^https?:\/\/[^\s/?#\\]/i.test(text) && !/[\u0000-\u0020\u007f\s]/.test(text) && URL.canParse(text)
}

function categoriesOf(value: unknown): string[] | typeof wrong | undefined {
  const isList = Array.isArray(value)
  const scalar = isList ? undefined : scalarOf(value)
  if (!isList && typeof scalar !== 'string') return scalar
  const paths: string[] = []
  let elements = 0
  for (const element of isList ? value.map(contentOf) : [scalar]) {
    for (const part of typeof element === 'string' ? element.split('|') : [element]) {
      const text = part === null ? '' : plainText(part)?.trim()
      if (text === undefined) return wrong
      if (text === '') continue
      elements += 1
      const levels = text
        .split('/')
        .map((level) => level.trim())
        .filter((level) => level !== '')
      if (levels.some((level) => />|&gt;/i.test(level))) return wrong
      if (levels.length > 0) paths.push((text.startsWith('/') ? '/' : '') + levels.join('/'))
    }
  }
  return elements === 0 && !isList ? undefined : paths
}
