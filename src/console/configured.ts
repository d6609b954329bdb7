import type { CatalogConfig, Config } from '../config/model.ts'

/** What runs now; a reload replaces it. */
export interface Configured {
  config: Config
  catalogs: readonly CatalogConfig[]
}
