import type { Clock } from '../lib/clock.ts'
import type { LoadProgress } from '../operations/load-files.ts'
import type { OutboxOverview } from '../outbox/overview.ts'
import type { BarLine } from './bar-line.ts'
import type { CommandContext } from './context.ts'
import { Estimate, openProgressBar } from './progress-bar.ts'
import { describeHold, formatAge } from './status-format.ts'
import { countOf, formatCount } from './table.ts'

const lineEveryMs = 5_000

interface ProgressView extends Disposable {
  show(progress: LoadProgress): void
}

/** A bar on a terminal, otherwise a line every few seconds and whenever the state changes; above it what stops the line. */
export function openLoadProgress(context: CommandContext): ProgressView {
  const { barLine, clock } = context
  const view = barLine ? openBar(barLine, clock) : openLines(context)
  let told = ''
  let isFirst = true
  return {
    show: (progress) => {
      if (isFirst && progress.daemonPid !== undefined)
        context.note(`done by the daemon (pid ${progress.daemonPid})`)
      isFirst = false
      const stops = describeStops(progress)
      const text = stops.map(({ reason }) => reason).join()
      if (text !== told) for (const { line } of stops) context.note(line)
      told = text
      view.show(progress)
    },
    [Symbol.dispose]: () => view[Symbol.dispose](),
  }
}

function openBar(line: BarLine, clock: Clock): ProgressView {
  const bar = openProgressBar(line, clock)
  const sent = new Sent()
  const pace = new Pace(clock)
  return {
    show: (progress) => {
      const stops = describeStops(progress)
        .map(({ short }) => short)
        .join(', ')
      const text = stops || describeStep(progress, pace)
      bar.show(shareOf(progress, sent.shareOf(progress.overview)), text)
    },
    [Symbol.dispose]: () => bar[Symbol.dispose](),
  }
}

function openLines(context: CommandContext): ProgressView {
  const { clock } = context
  const estimate = new Estimate(clock)
  const sent = new Sent()
  let lastAt = Number.NEGATIVE_INFINITY
  let lastState = ''
  return {
    show: (progress) => {
      const { percent, left } = estimate.describe(shareOf(progress, sent.shareOf(progress.overview)))
      const now = clock.monotonic()
      const { running, imported } = progress
      const state = `${running?.file} ${running?.phase} ${imported}`
      if (state === lastState && now - lastAt < lineEveryMs) return
      lastAt = now
      lastState = state
      context.note([`${percent} %${left && `, ${left}`}`, ...describeAll(progress)].join(' · '))
    },
    [Symbol.dispose]: () => undefined,
  }
}

/** Of the whole, as measured with first loads: judging, applying, and what then is still to be sent. */
const judgingShare = 0.1
const applyingShare = 0.6

function shareOf({ running, imported, files }: LoadProgress, sentShare: number): number {
  const read = running ? running.bytesRead / Math.max(1, running.bytes) : 0
  const isJudging = running?.phase === 'judging'
  const judged = (imported + (running ? (isJudging ? read : 1) : 0)) / files
  const applied = (imported + (running && !isJudging ? read : 0)) / files
  const share = judgingShare * judged + applyingShare * applied
  return Math.min(1, share + (1 - judgingShare - applyingShare) * applied * sentShare)
}

/** Of what is to be sent since the first look, so much is acknowledged. */
class Sent {
  #before: number | undefined

  shareOf({ pending, dead, counters }: OutboxOverview): number {
    const all = Object.entries(counters)
      .filter(([name]) => name.startsWith('acknowledged:'))
      .reduce((sum, [, count]) => sum + count, 0)
    this.#before ??= all
    const [acknowledged, waiting] = [all - this.#before, Math.max(0, pending - dead)]
    return waiting === 0 ? 1 : acknowledged / (acknowledged + waiting)
  }
}

/** Of a count that grows, by the second: over 5 s. */
class Pace {
  readonly #clock: Pick<Clock, 'monotonic'>
  #seen: { at: number; count: number }[] = []
  #of = ''

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  describe(of: string, count: number, unit: string): string {
    const at = this.#clock.monotonic()
    if (of !== this.#of) this.#seen = []
    this.#of = of
    this.#seen.push({ at, count })
    while (at - (this.#seen[1]?.at ?? at) > lineEveryMs) this.#seen.shift()
    const { at: from = at, count: before = count } = this.#seen[0] ?? {}
    const perSecond = Math.round((1000 * (count - before)) / Math.max(1, at - from))
    return perSecond > 0 ? `, ${formatCount(perSecond)} ${unit}/s` : ''
  }
}

/** What is being done now, in the rest of a line. */
function describeStep({ running, imported, files, overview }: LoadProgress, pace: Pace): string {
  if (running) {
    const { phase, file, bytesRead, records } = running
    const rate =
      phase === 'judging'
        ? pace.describe(file, Math.round(bytesRead / 1e6), 'MB')
        : pace.describe(`${phase} ${file}`, records, 'records')
    return `${phase}${rate}: ${file}`
  }
  if (imported < files)
    return imported === 0 ? 'waiting to be imported' : `${imported} of ${files} files imported`
  const { pending, dead, repeats, echoes, lanes } = overview
  const waiting = Math.max(0, pending - dead - repeats)
  const isDeferred = waiting > 0 && waiting === lanes.deferred.waiting && lanes.deferred.dueInMs > 0
  if (isDeferred) return `${formatCount(waiting)} deferred, due in ${formatAge(lanes.deferred.dueInMs)}`
  if (waiting === 0 && echoes.waiting > 0) {
    return `${formatCount(echoes.waiting)} sent once more in ${formatAge(echoes.dueInMs)}: no answer came`
  }
  return `sending${pace.describe('sending', -waiting, 'products')}: ${formatCount(waiting)} wait`
}

function describeAll({ running, imported, files, overview }: LoadProgress): string[] {
  const { lanes, echoes, inFlight } = overview
  const parts: string[] = []
  if (running) {
    // Records are counted by the second pass.
    const records = running.phase === 'judging' ? '' : `, ${countOf(running.records, 'record')}`
    parts.push(`${running.file}: ${running.phase}${records}`)
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
  if (inFlight > 0) parts.push(`${formatCount(inFlight)} in flight`)
  if (echoes.waiting > 0) {
    parts.push(
      `${formatCount(echoes.waiting)} to be repeated within ${formatAge(echoes.dueInMs)} (their outcome was unknown)`,
    )
  }
  return parts
}

interface Stop {
  reason: string
  short: string
  line: string
}

/** Why no call is made. */
function describeStops({ overview }: LoadProgress): Stop[] {
  const { paused, holdMs, holdReason, lastFailure } = overview
  const stops: Stop[] = paused.map(({ reason, hint }) => {
    return { reason, short: `paused (${reason})`, line: `Paused (${reason}): ${hint}` }
  })
  if (holdReason === undefined) return stops
  const why = describeHold(holdReason)
  const short = `${why}, next call in ${Math.ceil(holdMs / 1000)} s`
  return [
    ...stops,
    { reason: holdReason, short, line: `${why}${lastFailure ? `: ${lastFailure.text}` : ''}` },
  ]
}
