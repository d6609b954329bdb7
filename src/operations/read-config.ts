import { productFields } from '../api/contract/product.ts'
import { checkConsentRule } from '../catalog/consent-mapping.ts'
import { keyProblem } from '../catalog/feed-key.ts'
import { groupProblems } from '../catalog/group-links.ts'
import { checkRule } from '../catalog/mapping.ts'
import { type FieldOverlap, rankFields } from '../catalog/ranks.ts'
import { type LoadedConfig, type LoadOptions, readConfig } from '../config/load.ts'
import type { Deferred, FeedConfig, PullConfig } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'
import { accessOf, describeSchedule, describeSource } from '../sources/pull/describe-source.ts'

/** The configuration, checked with what the catalog stage knows of fields and rules. */
export function readCheckedConfig(
  options: Pick<LoadOptions, 'file' | 'env' | 'text'>,
): Promise<LoadedConfig> {
  return readConfig({
    ...options,
    productFields,
    checkRule,
    checkGroup: groupProblems,
    keyProblem,
    checkConsentRule,
  })
}

/** Fields that several feeds map; the value of the first one counts. */
export function listOverlaps(feeds: ReadonlyMap<FeedName, FeedConfig>): readonly FieldOverlap[] {
  return rankFields(feeds).overlaps
}

/** Where and when files are fetched, fit to be shown. */
export function describePull(pull: PullConfig): string {
  return `${describeSource(pull.source)} ${describeSchedule(pull)}`
}

/** What a fetch needs from the environment, among others. */
export function accessOfPull({ source }: PullConfig): Deferred<unknown>[] {
  return accessOf(source)
}
