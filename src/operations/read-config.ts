import { productFields } from '../api/contract/product.ts'
import { checkRule } from '../catalog/mapping.ts'
import { type LoadedConfig, readConfig } from '../config/load.ts'
import type { Environment } from '../config/variables.ts'

/** The configuration, checked with what the catalog stage knows of fields and rules. */
export function readCheckedConfig(options: { file: string; env: Environment }): Promise<LoadedConfig> {
  return readConfig({ ...options, productFields, checkRule })
}
