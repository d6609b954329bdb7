import type { ConfigDocument } from './document.ts'
import { feedPaths, isMapping, kindOfFeed } from './parts.ts'
import { type Preset, readPreset } from './preset-file.ts'
import type { ConfigPath } from './problems.ts'

/** What a preset may ask of the feed that uses it; with what belongs there, for messages. */
const parameters = {
  shopUrl: 'the address of the shop, such as https://shop.example',
  currency: 'the code of the currency, such as EUR',
  decimal: 'the decimal mark of prices',
  thousands: 'the thousands mark of prices',
} as const
type ParameterName = keyof typeof parameters

/** What says where a feed comes from, how a preset is recognised, and what `init` writes where a column is missing. */
const notOfFeed = new Set(['drop', 'pull', 'preset', 'owns', 'kind', 'signature', 'without'])
const reference = /\$\{preset\.([A-Za-z]+)(:-)?\}/g

/**
 * Puts the keys of its preset under each feed that names one, as if they stood in the file; what the feed says itself
 * counts. Messages about a preset's keys point at the feed. `folder` is where relative paths begin.
 */
export function applyPresets(document: ConfigDocument, folder: string): void {
  for (const path of feedPaths(document)) applyPreset(document, path, folder)
}

function applyPreset(document: ConfigDocument, path: ConfigPath, folder: string): void {
  const feed = document.at(path)
  if (!isMapping(feed)) return
  const { preset: name } = feed
  if (name === undefined) reportParameters(document, path, feed)
  if (typeof name !== 'string' || document.unsetAt([...path, 'preset']).length > 0) return
  if (kindOfFeed(document, path) === 'consents') {
    document.addProblem([...path, 'preset'], 'found in a feed of kind consents, expected it to be left out')
    return
  }
  const preset = readPreset(name, folder)
  if (typeof preset === 'string') {
    document.addProblem([...path, 'preset'], `found "${name}", ${preset}`)
    return
  }
  const merged = merge(ofFeed(preset), feed)
  if (isMapping(merged.fields)) merged.fields = withoutNone(merged.fields)
  const missing = new Set<string>()
  const filled = fill(merged, feed, missing)
  for (const parameter of missing) {
    const expected = parameters[parameter as ParameterName] ?? 'a preset that knows its parameters'
    document.addProblem(path, `preset ${name} needs ${parameter}, expected ${expected}`, 'key')
  }
  for (const key of Object.keys(feed)) delete feed[key]
  Object.assign(feed, filled)
}

/** They do nothing without a preset, and whoever writes them expects something. */
function reportParameters(document: ConfigDocument, path: ConfigPath, feed: Record<string, unknown>): void {
  for (const parameter of Object.keys(parameters)) {
    if (feed[parameter] === undefined) continue
    document.addProblem(
      [...path, parameter],
      'has an effect only beside preset, expected a preset, or the value in fields',
      'key',
    )
  }
}

function ofFeed(preset: Preset): Record<string, unknown> {
  return Object.fromEntries(Object.entries(preset).filter(([key]) => !notOfFeed.has(key)))
}

/** Mappings of settings merge key by key, and the fields; a rule, a list or a value replaces the preset's. */
function merge(preset: Record<string, unknown>, own: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...preset }
  for (const [key, value] of Object.entries(own)) {
    const below = preset[key]
    merged[key] = isMapping(below) && isMapping(value) && key !== 'group' ? { ...below, ...value } : value
  }
  return merged
}

/** `brand: none` takes a field out of the preset. */
function withoutNone(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, rule]) => rule !== 'none'))
}

/**
 * Fills in what the feed was asked for. `${preset.currency:-}` may be missing: a key whose value is nothing else is
 * left out then.
 */
function fill(value: unknown, feed: Record<string, unknown>, missing: Set<string>): unknown {
  if (typeof value === 'string') return fillText(value, feed, missing)
  if (Array.isArray(value)) return value.map((element) => fill(element, feed, missing))
  if (!isMapping(value)) return value
  const entries = Object.entries(value).map(([key, content]) => [key, fill(content, feed, missing)] as const)
  return Object.fromEntries(entries.filter(([, content]) => content !== undefined))
}

function fillText(text: string, feed: Record<string, unknown>, missing: Set<string>): string | undefined {
  if (!text.includes('${preset.')) return text
  let isAbsent = false
  const filled = text.replaceAll(reference, (_, name: string, optional: string | undefined) => {
    const given = Object.hasOwn(parameters, name) ? feed[name] : undefined
    if (given !== undefined && given !== '') return String(given).replace(/\/+$/, '')
    if (optional === undefined) missing.add(name)
    isAbsent = true
    return ''
  })
  return isAbsent ? undefined : filled
}
