import type { Judgement } from '../records/judge.ts'
import { reasonColumn } from '../records/model.ts'
import type { AcceptLine } from '../sources/model.ts'
import { absentProducts } from './absent-products.ts'
import type { ApplyOptions } from './apply-records.ts'
import { countChanges } from './count-changes.ts'
import { percent } from './held.ts'
import { knownProducts } from './known-products.ts'
import type { Tally } from './tally.ts'

/** With fewer products a share says nothing. */
const knownMin = 20
const lanes = ['urgent', 'new', 'deferred'] as const

/** Whether the file says of all products of the feed what there is, so that one it does not name is missing. */
export function isWholeFeed(
  { mode }: Pick<AcceptLine, 'mode'>,
  { columns }: Pick<Judgement, 'columns'>,
): boolean {
  return mode === 'full' && !columns.includes(reasonColumn)
}

/** Why nothing of a file may be applied before the operator says so; undefined: it may be. Changes nothing. */
export async function reasonToHoldFile(options: ApplyOptions): Promise<string | undefined> {
  return (await reasonOfIds(options)) ?? (await reasonOfChanges(options))
}

/** Another column was exported for the id, as a rule. Where missing products are ignored a file may well hold new ones only. */
async function reasonOfIds({ context, accept, file }: ApplyOptions): Promise<string | undefined> {
  const { judgement } = file
  const { ids } = judgement
  const isIgnored = context.feed.missing.action === 'ignore'
  if (!isWholeFeed(accept, judgement) || isIgnored || ids.size === 0) return undefined
  const absentOf = absentProducts(context, { ids })
  let products = 0
  for await (const known of knownProducts(context)) {
    if (absentOf(known).length < known.length) return undefined
    products += known.length
  }
  if (products < 2) return undefined
  return `none of the ${products} products that the feed named before is in the file: all ids are others`
}

async function reasonOfChanges(options: ApplyOptions): Promise<string | undefined> {
  const { context } = options
  const atMost = context.feed.changes?.atMost
  if (atMost === undefined) return undefined
  const counts = await countChanges(options)
  // A file that changes little is known to do so after some products; only a suspicious one has all of them counted.
  const enough = Math.max(
    ...lanes.map((lane) => (counts[lane] === 0 ? 0 : counts[lane] / (atMost[lane] ?? 1))),
  )
  let products = 0
  if (enough > 0) {
    for await (const known of knownProducts(context)) {
      products += known.length
      if (products >= enough) return undefined
    }
  }
  return describeChanges({ counts, atMost, products })
}

interface Counted {
  counts: Tally
  atMost: Readonly<Partial<Record<(typeof lanes)[number], number>>>
  products: number
}

function describeChanges({ counts, atMost, products }: Counted): string | undefined {
  if (products < knownMin) return undefined
  const texts = lanes.flatMap((lane) => {
    const [limit, count] = [atMost[lane], counts[lane]]
    if (limit === undefined || count <= products * limit) return []
    const what =
      lane === 'new'
        ? `it brings ${count} new products, and the feed has ${products}`
        : `it changes ${count} of the feed's ${products} products (${lane})`
    return [`${what}, more than changes.atMost.${lane} (${percent(limit)})`]
  })
  return texts.length === 0 ? undefined : texts.join('; ')
}
