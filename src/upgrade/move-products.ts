import type { Lane } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import { digestDocument } from '../mirror/digest.ts'
import type { Drained } from '../mirror/loop-model.ts'
import type { MirrorChunk, ProductWrite } from '../mirror/model.ts'
import type { MirrorStore } from '../mirror/store.ts'
import { type OldStore, oldKey } from './old-keys.ts'

const digestBytes = 16
const pageProducts = 250
/** Each transaction costs the disk two fsyncs. */
const transactionProducts = 2_000
const transactionBytes = 8_000_000
const everywhere = Number.MAX_SAFE_INTEGER
/** Nothing was offered yet: every number counts as one that Redis was told of, so that what is settled loses its place. */
const positions = { urgent: everywhere, new: everywhere, deferred: everywhere }

/** What version 1 held of one product. */
interface OldProduct {
  productId: ProductId
  write: ProductWrite
  acknowledged: Buffer | null
  /** Digest and JSON. */
  dead: Buffer | null
  isPending: boolean
  /** A call of it may have taken effect, or may do so. */
  isUnderWay: boolean
  /** Its refusal may have meant something else: it is tried again. */
  isUndecided: boolean
}

/** Moves all products. `onMoved` is told of each transaction. */
export async function moveProducts(
  store: OldStore,
  mirror: MirrorStore,
  { nowMs, onMoved }: { nowMs: number; onMoved: (products: number) => Promise<void> },
): Promise<void> {
  let waiting: OldProduct[] = []
  const move = async () => {
    const page = waiting
    waiting = []
    movePage(mirror, page, nowMs)
    await onMoved(page.length)
  }
  for await (const page of readPages(store)) {
    waiting.push(...page)
    const bytes = waiting.reduce((sum, { write }) => sum + (write.document?.length ?? 0), 0)
    if (waiting.length >= transactionProducts || bytes >= transactionBytes) await move()
  }
  await move()
}

async function* readPages(store: OldStore): AsyncIterable<OldProduct[]> {
  const undecided = new Set(await store.connection.lrange(oldKey(store, 'refusals'), 0, -1))
  let cursor = '0'
  do {
    const [next, pairs] = await store.connection.hscan(oldKey(store, 'meta'), cursor, 'COUNT', pageProducts)
    cursor = next
    // A small hash comes in one page, whatever was asked for.
    for (let start = 0; start < pairs.length; start += 2 * pageProducts)
      yield await readProducts(store, pairs.slice(start, start + 2 * pageProducts), undecided)
  } while (cursor !== '0')
}

function movePage(mirror: MirrorStore, page: readonly OldProduct[], nowMs: number): void {
  const chunks: MirrorChunk[] = [{ writes: page.map(({ write }) => write) }]
  mirror.commit(() => chunks.shift(), nowMs)
  mirror.drain({ ...sendingOf(page), positions }, nowMs)
  mirror.rest()
}

/**
 * An acknowledgement is believed where nothing was pending or under way; everything else is doubtful, keeps the place that
 * its write gave it, and is echoed by the repair that the first start makes.
 */
function sendingOf(page: readonly OldProduct[]): Pick<Drained, 'acknowledged' | 'dead'> {
  const acknowledged: NonNullable<Drained['acknowledged']>[number][] = []
  const dead: NonNullable<Drained['dead']>[number][] = []
  for (const product of page) {
    const { productId, isUnderWay: held } = product
    const { document } = product.write
    if (!document) continue
    const digest = digestDocument(document)
    const isDead = !product.isUndecided && product.dead?.subarray(0, digestBytes).equals(digest) === true
    if (held || (product.isPending && !isDead)) {
      acknowledged.push({ productId, digest: undefined, held: true })
    } else if (product.acknowledged) {
      const known = product.acknowledged.length === digestBytes ? product.acknowledged : undefined
      acknowledged.push({ productId, digest: known, held: false })
    }
    if (!isDead || !product.dead) continue
    const letter = JSON.parse(product.dead.toString('utf8', digestBytes))
    dead.push({ letter: { ...letter, productId }, digest, held })
  }
  return { acknowledged, dead }
}

async function readProducts(
  store: OldStore,
  pairs: readonly string[],
  undecided: ReadonlySet<string>,
): Promise<OldProduct[]> {
  const ids = pairs.filter((_, place) => place % 2 === 0) as ProductId[]
  const { connection } = store
  const key = (name: Parameters<typeof oldKey>[1]) => oldKey(store, name)
  const buffers = (name: 'documents' | 'partials' | 'acknowledged' | 'dead') =>
    connection.hmgetBuffer(key(name), ...ids)
  const texts = (name: 'pending' | 'claimed' | 'incomplete') => connection.hmget(key(name), ...ids)
  const scores = (name: 'switches' | 'urgent' | 'echoes') => connection.zmscore(key(name), ...ids)
  const [documents, partials, acknowledged, dead] = await Promise.all([
    buffers('documents'),
    buffers('partials'),
    buffers('acknowledged'),
    buffers('dead'),
  ])
  const [pending, claimed, incomplete] = await Promise.all([
    texts('pending'),
    texts('claimed'),
    texts('incomplete'),
  ])
  const [switches, urgent, echoes] = await Promise.all([
    scores('switches'),
    scores('urgent'),
    scores('echoes'),
  ])
  return ids.map((productId, place) => {
    const document = documents[place] ?? undefined
    const switchAt = switches[place]
    const isUnderWay = claimed[place] != null || echoes[place] != null
    const lane: Lane = isUnderWay || urgent[place] != null ? 'urgent' : 'new'
    const write: ProductWrite = {
      ...{ productId, document, partial: partials[place] ?? undefined },
      ...{ meta: pairs[2 * place + 1] ?? '', incomplete: incomplete[place] ?? undefined },
      ...(switchAt == null ? {} : { switchAt: Number(switchAt) }),
      lane: document && lane,
    }
    return {
      ...{
        productId,
        write,
        isUnderWay,
        acknowledged: acknowledged[place] ?? null,
        dead: dead[place] ?? null,
      },
      ...{ isPending: pending[place] != null, isUndecided: undecided.has(productId) },
    }
  })
}
