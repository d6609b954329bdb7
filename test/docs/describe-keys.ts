import { productFields } from '../../src/api/contract/product.ts'
import { configJsonSchema } from '../../src/config/json-schema.ts'

/** What is used of JSON Schema. */
interface Schema {
  type?: string | string[]
  enum?: string[]
  minimum?: number
  maximum?: number
  pattern?: string
  default?: unknown
  description?: string
  required?: string[]
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
}

interface Key {
  path: string
  schema: Schema
  required: boolean
}

const placeholders: Record<string, string> = { catalogs: '<name>', 'catalogs.<name>.feeds': '<feed>' }
const feedPath = 'catalogs.<name>.feeds.<feed>.'
const catalogPath = 'catalogs.<name>.'

/** Where more is said about a key and those below it. */
const pages: Record<string, string> = {
  preset: 'presets.md',
  format: 'formats.md',
  fields: 'mapping.md',
  group: 'mapping.md#rows-of-one-product',
  transform: 'mapping.md#transform',
  key: 'several-feeds.md',
  owns: 'several-feeds.md',
  asOf: 'several-feeds.md',
  verify: 'formats.md#side-files',
  changes: 'formats.md#bad-files',
  missing: 'formats.md#bad-files',
  pull: 'fetching.md',
}

/** Tables of all keys of the configuration: those of the file, of a catalog, of a feed. */
export function describeKeys(): string {
  const keys = [...listKeys(configJsonSchema(productFields))]
  const isOf = (prefix: string) => (key: Key) => key.path.startsWith(prefix)
  const feed = keys.filter(isOf(feedPath))
  const catalog = keys.filter((key) => isOf(catalogPath)(key) && !isOf(feedPath)(key))
  const file = keys.filter((key) => !isOf(catalogPath)(key))
  return `
## Of the file

${table(file, '')}

## Of a catalog

Below \`catalogs.<name>\`, a name of lower-case letters, digits, \`-\` and \`_\`:

${table(catalog, catalogPath)}

## Of a feed

Below \`catalogs.<name>.feeds.<feed>\`:

${table(feed, feedPath)}

`
}

function table(keys: readonly Key[], prefix: string): string {
  const rows = keys.map(({ path, schema, required }) => {
    const key = path.slice(prefix.length)
    const page = pages[prefix === feedPath ? key : '']
    const meaning = `${escaped(schema.description ?? '')}${page === undefined ? '' : `. See [${page.replace(/\.md.*/, '')}](${page})`}`
    const preset = required ? 'required' : defaultOf(schema)
    return `| \`${key}\` | ${typeOf(schema)} | ${preset} | ${meaning} |`
  })
  return `| key | takes | default | meaning |\n|---|---|---|---|\n${rows.join('\n')}`
}

/** Every key of the configuration; field rules have a page of their own. */
function* listKeys(schema: Schema, path = ''): Generator<Key> {
  const seen = new Set<string>()
  for (const { properties, additionalProperties, required = [] } of [schema, ...(schema.anyOf ?? [])]) {
    for (const [name, child] of Object.entries(properties ?? {})) {
      const key = path === '' ? name : `${path}.${name}`
      if (seen.has(key)) continue
      seen.add(key)
      yield { path: key, schema: child, required: required.includes(name) }
      yield* listKeys(child, key)
    }
    const placeholder = placeholders[path]
    if (placeholder !== undefined && typeof additionalProperties === 'object')
      yield* listKeys(additionalProperties, `${path}.${placeholder}`)
  }
}

function defaultOf({ default: preset }: Schema): string {
  if (Array.isArray(preset) && preset.length > 0) return preset.map((one) => `\`${one}\``).join(', ')
  if (typeof preset === 'object' || preset === undefined || preset === '') return ''
  return `\`${escaped(String(preset))}\``
}

function typeOf(schema: Schema): string {
  // The second alternative of most leaves is a reference to the environment.
  const alternatives = (schema.anyOf ?? [schema]).filter(({ pattern }) => pattern !== '\\$\\{')
  const words = alternatives.flatMap(wordsOf)
  return [...new Set(words)].join(' or ')
}

function wordsOf(schema: Schema): string[] {
  const { type, enum: words, minimum, maximum, pattern = '' } = schema
  if (schema.anyOf) return [typeOf(schema)]
  if (words) return [words.map((word) => `\`${word}\``).join(', ')]
  if (schema.properties || schema.additionalProperties) return ['a mapping']
  if (type === 'integer') return [`${minimum} to ${maximum}`]
  if (type === 'boolean') return ['true or false']
  if (type === 'array') return ['a list']
  if (pattern.includes('ms|s|m|h|d')) return ['a duration']
  if (pattern.includes('KiB')) return ['a size']
  if (pattern.endsWith('%?$')) return ['a share']
  return type === undefined ? [] : ['a text']
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replace(/<(\w+)>/g, '\\<$1>')
}
