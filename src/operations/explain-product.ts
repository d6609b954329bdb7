import type { ProductId } from '../lib/brand.ts'
import { catalogKeys } from '../outbox/keys.ts'
import { readUnderWay, type UnderWay } from '../outbox/under-way.ts'
import { readManifest } from '../sources/manifest-reader.ts'
import { openMirror, openStorage, stateDirOf } from '../storage.ts'
import { findRejections, type Rejection } from './find-rejections.ts'
import { readStory } from './read-story.ts'
import { findDaemon, type OperationContext } from './run-here.ts'
import type { ProductStory } from './story.ts'
import type { StoryOptions } from './story-state.ts'

/** Connections that are open are used; otherwise some are opened for this. */
type StoryContext = Omit<OperationContext, 'connections'> & Partial<Pick<OperationContext, 'connections'>>

export type ExplainedProduct = ProductStory & {
  /** Records of the last imports that name the product, and were rejected. */
  rejected: Rejection[]
}

/** The story of a product. Redis is asked where it is there: one of its own that does not run is not started for this. */
export async function explainProduct(
  context: StoryContext,
  given: string,
  options: Pick<StoryOptions, 'lookMax'> = {},
): Promise<ExplainedProduct> {
  const { config, catalog, clock, readManifest: read = readManifest } = context
  const productId = given as ProductId
  const finding = findDaemon(context)
  const asksRedis = config.redisUrl !== '' || (await finding) !== undefined
  const asked = asksRedis ? askRedis(context, productId) : undefined
  const [daemon, underWay] = await Promise.all([finding, asked])
  const isRunning = daemon !== undefined
  using mirror = await openMirror(config, catalog)
  using manifest = await read(stateDirOf(config, catalog.name))
  const told = { catalog, mirror, manifest, underWay, isRunning, nowMs: clock.now(), ...options }
  const story = readStory(productId, told)
  return { ...story, rejected: await findRejections(stateDirOf(config, catalog.name), manifest, productId) }
}

async function askRedis(context: StoryContext, productId: ProductId): Promise<UnderWay | undefined> {
  try {
    await using storage = context.connections
      ? undefined
      : await openStorage({ ...context, mayBeDown: true, isQuiet: true })
    const connections = context.connections ?? storage?.connections
    if (connections === undefined) return undefined
    if (connections.failure) return undefined
    return await readUnderWay(connections.commands, catalogKeys(context.catalog.name), productId)
  } catch (error) {
    // The mirror tells all that matters; `redis: away` says the rest.
    context.log.debug({ err: error }, 'Redis was not asked')
    return undefined
  }
}
