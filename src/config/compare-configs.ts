import { isDeepStrictEqual } from 'node:util'
import type { CatalogName } from '../lib/brand.ts'
import type { LoadedConfig } from './load.ts'
import { isMapping } from './parts.ts'
import { type ConfigPath, ConfigProblemsError, formatPath } from './problems.ts'

/** Which running parts a changed configuration concerns. */
export interface ConfigChanges {
  /** What changed, without values: `catalogs.main.delivery.callsPerSecond`. */
  paths: readonly string[]
  /** Catalogs that are opened again, opened or closed. */
  catalogs: ReadonlySet<CatalogName>
  /** Catalogs of which only the delivery is opened again: their imports go on. */
  deliveries: ReadonlySet<CatalogName>
  console: boolean
}

/** `commands`: nothing that the daemon runs; `everywhere`: every catalog. */
type Effect = 'restart' | 'adopt' | 'everywhere' | 'catalog' | 'delivery' | 'console' | 'alerts' | 'commands'

/** The first that a path begins with decides; `*` is any name. */
const effects: readonly [path: string, effect: Effect][] = [
  ['state', 'restart'],
  ['redis.url', 'restart'],
  ['redis', 'everywhere'],
  ['archive', 'everywhere'],
  ['history', 'everywhere'],
  ['console', 'console'],
  ['alerts', 'alerts'],
  ['traces', 'restart'],
  ['stack', 'commands'],
  ['intent', 'commands'],
  ['catalogs.*.api.url', 'adopt'],
  ['catalogs.*.api.account', 'adopt'],
  ['catalogs.*.api', 'delivery'],
  ['catalogs.*.delivery.callsPerSecond', 'delivery'],
  ['catalogs.*.delivery.concurrency', 'delivery'],
  ['catalogs.*', 'catalog'],
]

const refusals = {
  restart:
    'cannot change while catalogd runs, expected what it was; or keep the change, and restart catalogd for it',
  adopt:
    'names another endpoint, which a reload never does, expected what it was; or keep the change, stop catalogd, and run "catalogd adopt", which says how many products will be sent',
} as const

/** Says what has to be opened again. Throws a ConfigProblemsError when something changed that a reload cannot change. */
export function compareConfigs(before: LoadedConfig, after: LoadedConfig): ConfigChanges {
  const changed = changedPaths(settingsOf(before), settingsOf(after), [])
  const catalogs = new Set<CatalogName>()
  const deliveries = new Set<CatalogName>()
  let isConsole = false
  const problems = changed.flatMap((path) => {
    const effect = effectOf(path)
    const name = path[1] as CatalogName
    if (effect === 'restart' || effect === 'adopt') return after.problemAt(path, refusals[effect])
    if (effect === 'everywhere') for (const each of after.config.catalogs.keys()) catalogs.add(each)
    // The process that imports consents sends them, too.
    const hasConsents = (after.config.catalogs.get(name)?.consents.feeds.size ?? 0) > 0
    if (effect === 'catalog' || (effect === 'delivery' && hasConsents)) catalogs.add(name)
    if (effect === 'delivery') deliveries.add(name)
    isConsole ||= effect === 'console'
    return []
  })
  if (problems.length > 0) throw new ConfigProblemsError(problems)
  const paths = [...new Set(changed.map(formatPath))]
  for (const name of catalogs) deliveries.delete(name)
  return { paths, catalogs, deliveries, console: isConsole }
}

/** What the parts are made from: addresses and paths in one form, and the versions of files that are read once. */
function settingsOf({ config, input, versions }: LoadedConfig): Record<string, unknown> {
  const catalogs = Object.entries(input.catalogs).map(([name, catalog]) => {
    const { api, feeds } = config.catalogs.get(name as CatalogName) ?? {}
    const transforms = [...(feeds?.values() ?? [])].flatMap(({ transform }) => transform?.file ?? [])
    const url = api?.url.available ? api.url.value().href.replace(/\/+$/, '') : catalog.api.url
    return [
      name,
      { ...catalog, api: { ...catalog.api, url }, transforms: transforms.map((file) => versions.get(file)) },
    ]
  })
  return {
    ...input,
    console: {
      ...input.console,
      tls: Object.fromEntries(
        Object.entries(config.console?.tls ?? {}).map(([key, file]) => [key, [file, versions.get(file)]]),
      ),
    },
    state: config.stateDir,
    redis: { url: config.redisUrl, pendingBytes: config.redisPendingBytes },
    catalogs: Object.fromEntries(catalogs),
  }
}

/** Deepest paths at which the two differ; the order of a mapping counts, too, since it says who writes a field. */
function changedPaths(before: unknown, after: unknown, path: ConfigPath): ConfigPath[] {
  if (!isMapping(before) || !isMapping(after)) return isDeepStrictEqual(before, after) ? [] : [path]
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const inside = keys.flatMap((key) => changedPaths(before[key], after[key], [...path, key]))
  const isMoved = !isDeepStrictEqual(Object.keys(before), Object.keys(after))
  return inside.length === 0 && isMoved ? [path] : inside
}

function effectOf(path: ConfigPath): Effect {
  const found = effects.find(([pattern]) =>
    pattern.split('.').every((part, index) => part === '*' || part === path[index]),
  )
  if (found) return found[1]
  throw new Error(`no part of the daemon knows the setting ${formatPath(path)}`)
}
