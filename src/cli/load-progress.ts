import type { LoadProgress } from '../operations/load-files.ts'
import type { CommandContext } from './context.ts'
import { openProgressBar } from './progress-bar.ts'
import { describeHold, formatAge } from './status-format.ts'
import { countOf, formatCount } from './table.ts'

const lineEveryMs = 5_000

interface ProgressView extends Disposable {
  show(progress: LoadProgress): void
}

/** A bar on a terminal, otherwise a line every few seconds and whenever the state changes. */
export function openLoadProgress(context: CommandContext): ProgressView {
  return context.isTerminal ? openBar() : openLines(context)
}

function openBar(): ProgressView {
  const bar = openProgressBar()
  return {
    show: (progress) => bar.show(percentOf(progress), describe(progress)),
    [Symbol.dispose]: () => bar[Symbol.dispose](),
  }
}

function openLines(context: CommandContext): ProgressView {
  let lastAt = Number.NEGATIVE_INFINITY
  let lastState = ''
  return {
    show: (progress) => {
      const now = context.clock.monotonic()
      const state = stateOf(progress)
      if (state === lastState && now - lastAt < lineEveryMs) return
      lastAt = now
      lastState = state
      context.note(describe(progress))
    },
    [Symbol.dispose]: () => undefined,
  }
}

/** Reading counts for half, delivering for the other. */
function percentOf({ running, imported, files, overview }: LoadProgress): number {
  const read = running ? running.bytesRead / Math.max(1, running.bytes) : 0
  const importShare = Math.min(1, (imported + read) / files)
  const { pending, dead, products } = overview
  const delivered = products === 0 ? 0 : 1 - Math.min(1, (pending - dead) / products)
  return Math.round(100 * (importShare / 2 + (importShare === 1 ? delivered / 2 : 0)))
}

function stateOf({ running, imported, overview }: LoadProgress): string {
  const paused = overview.paused.map(({ reason }) => reason).join()
  return `${running?.file} ${running?.phase} ${imported} ${paused} ${overview.holdReason}`
}

function describe({ running, imported, files, daemonPid, overview }: LoadProgress): string {
  const { lanes, echoes, inFlight, paused, holdMs, holdReason, lastFailure } = overview
  const parts: string[] = []
  if (running) {
    const percent = Math.round((100 * running.bytesRead) / Math.max(1, running.bytes))
    // Records are counted by the second pass.
    const records = running.phase === 'judging' ? '' : `, ${countOf(running.records, 'record')}`
    parts.push(`${running.file}: ${running.phase} ${percent} %${records}`)
  } else if (imported < files) {
    parts.push(`${imported} of ${countOf(files, 'file')} imported`)
  }
  const waiting = Object.entries(lanes).flatMap(([lane, { waiting: count, dueInMs }]) => {
    // A new product waits a moment and that is no news; edits may wait for a quarter of an hour.
    const due = dueInMs > 2_000 ? ` (the first in ${formatAge(dueInMs)})` : ''
    return count > 0 ? [`${formatCount(count)} ${lane}${due}`] : []
  })
  if (waiting.length > 0) parts.push(`waiting: ${waiting.join(', ')}`)
  else if (imported === files) parts.push('nothing waiting')
  if (inFlight > 0) parts.push(`${inFlight} in flight`)
  if (echoes.waiting > 0) {
    parts.push(
      `${echoes.waiting} to be repeated within ${Math.ceil(echoes.dueInMs / 1000)} s (their outcome was unknown)`,
    )
  }
  for (const { reason, hint } of paused) parts.push(`paused (${reason}): ${hint}`)
  if (holdReason !== undefined) {
    parts.push(
      `${describeHold(holdReason)}, next call in ${Math.ceil(holdMs / 1000)} s${lastFailure ? `: ${lastFailure.text}` : ''}`,
    )
  }
  if (daemonPid !== undefined) parts.push(`done by the daemon (pid ${daemonPid})`)
  return parts.join(' · ')
}
