import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import { suggestion } from '../config/problems.ts'
import type { FeedName } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'

/** The feed of that name; otherwise a ConfigError that names the feeds there are. */
export function findFeed(catalog: CatalogConfig, name: string): FeedConfig {
  const feed = catalog.feeds.get(name as FeedName)
  if (feed) return feed
  const names = [...catalog.feeds.keys()]
  throw new ConfigError(
    'feed-unknown',
    `"${name}" is no feed of catalog ${catalog.name}${suggestion(name, names)}`,
    {
      hint: `Feeds: ${names.join(', ')}`,
    },
  )
}

/** Throws a ConfigError where a catalog has neither a feed of consents nor a token for them. */
export function requireConsents({ name, consents }: CatalogConfig): void {
  if (consents.feeds.size > 0) return
  throw new ConfigError('consents-off', `catalog ${name} has no consents`, {
    hint: `Set catalogs.${name}.api.emailToken (or emailTokenFile), and a feed with kind: consents`,
  })
}
