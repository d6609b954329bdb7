import type { WatchedWork } from '../lib/watchdog.ts'
import type { ProductContext } from './context.ts'
import { planDue } from './plan-chunk.ts'

/** Upper bound of how late a change is applied that was announced after the last look. */
const lookEveryMs = 1_000
const idsPerStep = 500

/**
 * Applies what feeds have announced (the end of a sale, say) when its time has come, until the context's signal ends
 * it. What fell due while no process ran is applied at once. Safe to repeat: what is applied is no longer announced.
 */
export async function runAnnounced(context: ProductContext, work: WatchedWork): Promise<void> {
  const { mirror, clock, signal } = context
  while (!signal.aborted) {
    const next = mirror.nextSwitch()
    const waitMs = next === undefined ? lookEveryMs : next - clock.now()
    if (waitMs > 0) {
      work.rest()
      await clock.sleep(Math.min(waitMs, lookEveryMs), signal).catch(() => undefined)
      continue
    }
    work.advance()
    await applyAnnounced(context)
  }
}

async function applyAnnounced({ mirror, clock, rules, catalog, log }: ProductContext): Promise<void> {
  const nowMs = clock.now()
  let changed = 0
  await mirror.update(mirror.switchesDue(nowMs, idsPerStep), (stored) => {
    const { writes, changes, switches } = planDue({ stored, nowMs, ...rules })
    changed = changes.length
    // Noted for each of them, changed or not: one that waits for nothing would be looked at for ever, and one that a
    // record has moved since the ids were read still waits.
    return { writes, switches }
  })
  if (changed > 0)
    log.info({ catalog: catalog.name, products: changed }, 'announced changes hold from now on')
}
