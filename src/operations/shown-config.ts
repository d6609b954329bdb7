import type { LoadedConfig } from '../config/load.ts'
import type { ApiConfig, CatalogConfig, Config, Deferred, FeedConfig, PullConfig } from '../config/model.ts'
import { configFromPlain, plainConfig } from '../config/plain-config.ts'
import type { FeedName } from '../lib/brand.ts'
import { describeUrl } from '../sources/pull/describe-source.ts'

/** What `status` reads of a configuration. */
type ShownConfig = Pick<Config, 'file' | 'stateDir' | 'redisUrl'> & {
  catalogs: ReadonlyMap<string, Omit<CatalogConfig, 'api'> & { api: Pick<ApiConfig, 'url' | 'account'> }>
}

/**
 * As JSON can hold it, without secrets. Undefined where more than the text of the file decides, since that may be different
 * for whoever reads it, and where the address of Redis may hold a password.
 */
export function noteShown({ config, standsAlone }: Pick<LoadedConfig, 'config' | 'standsAlone'>): unknown {
  const { file, stateDir, redisUrl, catalogs } = config
  if (!standsAlone || /[@?]/.test(redisUrl)) return undefined
  const shown: ShownConfig = {
    ...{ file, stateDir, redisUrl },
    catalogs: new Map([...catalogs].map(([name, catalog]) => [name, shownCatalog(catalog)])),
  }
  return plainConfig(shown)
}

export function readShown(noted: unknown): Config {
  // To show something takes no more than that, but the stages are written for the whole configuration.
  return configFromPlain(noted) as Config
}

function shownCatalog({ api: { url, account }, consents, feeds, ...catalog }: CatalogConfig) {
  return {
    ...{ ...catalog, api: { url: shownUrl(url), account }, feeds: shownFeeds(feeds) },
    consents: { ...consents, feeds: shownFeeds(consents.feeds) },
  }
}

function shownFeeds(feeds: ReadonlyMap<FeedName, FeedConfig>): Map<FeedName, FeedConfig> {
  return new Map(
    [...feeds].map(([name, { pull, ...feed }]) => {
      return [name, pull ? { ...feed, pull: { ...pull, source: shownSource(pull.source) } } : feed]
    }),
  )
}

/** What `describeSource` shows. */
function shownSource(source: PullConfig['source']): PullConfig['source'] {
  const access = { headers: [], credentials: undefined, network: {} }
  if (source.kind === 'url') return { ...source, ...access, url: shownUrl(source.url) }
  if (source.kind === 's3') return { ...source, ...access, endpoint: undefined }
  return { ...source, user: hidden, password: undefined, passphrase: undefined }
}

function shownUrl(url: Deferred<URL>): Deferred<URL> {
  if (!url.available) return url
  const shown = new URL(describeUrl(url.value()))
  return { available: true, value: () => shown }
}

const hidden: Deferred<never> = {
  available: false,
  value: () => {
    throw new Error('a secret was asked for where none is known')
  },
}
