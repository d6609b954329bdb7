import type { CatalogKeys } from '../outbox/keys.ts'
import type { RedisConnection } from '../redis/connection.ts'

/** Where the mirror stands; undefined: nothing was ever imported, every product is new. */
export type Mirror = { connection: RedisConnection; keys: CatalogKeys } | undefined
