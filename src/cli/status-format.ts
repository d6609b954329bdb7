import { styleText } from 'node:util'
import type { CatalogStatus, FeedStatus, Status } from '../operations/read-status.ts'
import type { ConfigStatus } from '../operations/running-config.ts'
import type { OutboxOverview, Pause } from '../outbox/overview.ts'
import type { Awaited, DroppedFile } from '../sources/look-at-dropped.ts'
import { countOf, formatCount, formatTable, formatTime } from './table.ts'

/** For a terminal or a file. Pure. */
export function formatStatus({ daemon, redis, configuration, catalogs }: Status, nowMs: number): string {
  const who = daemon
    ? `daemon    pid ${daemon.pid} on ${daemon.host}, since ${agoOf(daemon.since, nowMs)}`
    : 'daemon    none runs: catalogd start'
  const trouble = redisTrouble(redis)
  const where = `redis     ${trouble ?? formatRedis(redis, nowMs)}`
  const config = configuration ? formatConfig(configuration, nowMs) : []
  return [who, where, ...config, ...catalogs.map((catalog) => formatCatalog(catalog, nowMs))].join('\n')
}

/** Lines begin with what they are about, and nothing that others wrote begins a line. */
const colours: readonly [beginning: RegExp, style: Parameters<typeof styleText>[0]][] = [
  [/^catalog .*: ok$/, ['green', 'bold']],
  [/^catalog .*: stopped$/, ['red', 'bold']],
  [/^catalog .*: attention$/, ['yellow', 'bold']],
  [/^(daemon {4}none|redis {5}(?!up )| {2}(consents: )?paused)/, 'red'],
  [
    /^( {2}!|config | {4}(held|fetching fails|no file for|\d[\d,]* refused)| {2}(consents: )?\d+ failed)/,
    'yellow',
  ],
]

/** Colours for the lines of `formatStatus`: what stops the line is red, what asks for somebody yellow. */
export function paintStatus(lines: string): string {
  return lines
    .split('\n')
    .map((line) => {
      const style = colours.find(([beginning]) => beginning.test(line))?.[1]
      return style === undefined ? line : styleText(style, line, { validateStream: false })
    })
    .join('\n')
}

function formatConfig({ file, state, loadedAt, problemLines }: ConfigStatus, nowMs: number): string[] {
  const read = agoOf(loadedAt, nowMs)
  if (state === 'same') return []
  if (state === 'changed')
    return [`config    ${file} was changed; the daemon runs with what it read at ${read}: catalogd reload`]
  return [
    `config    ${file} cannot be used, and a restart would fail. The daemon runs with what it read at ${read}, shown below`,
    ...problemLines.map((line) => `config    ${line}`),
  ]
}

/** `2026-11-24 01:28:40Z (2 min ago)`. */
function agoOf(at: string, nowMs: number): string {
  return `${formatTime(at)} (${formatAge(Math.max(0, nowMs - Date.parse(at)))} ago)`
}

/** A server that died and was started again says so by its age. */
function formatRedis(redis: Status['redis'], nowMs: number): string {
  const up = `up at ${redis.address}`
  if (!redis.up) return up
  // Whole seconds are all that a server tells of its age.
  const startedAt = new Date(nowMs - redis.info.uptimeSeconds * 1_000).toISOString()
  return `${up}, since ${agoOf(startedAt, nowMs)}`
}

/** Undefined: it can be read and written. */
export function redisTrouble(redis: Status['redis']): string | undefined {
  const { address } = redis
  if (!redis.up) {
    return `down at ${address}: ${redis.error}. Start Redis; until then files are imported and consents sent, and products wait`
  }
  const { aof, usedMemoryBytes, maxMemoryBytes } = redis.info
  if (aof === 'failing') {
    return `at ${address} cannot write its append-only file and refuses all changes. Free disk space there; everything goes on by itself`
  }
  if (!redis.info.isShortOfMemory) return undefined
  const used = usedMemoryBytes < maxMemoryBytes ? 'is nearly out of memory' : 'has no memory left'
  return `at ${address} ${used} (maxmemory): imports go on, and what it holds is delivered; more is offered when it has room. Give it more memory`
}

function formatCatalog(status: CatalogStatus, nowMs: number): string {
  const { catalog, overview, consents, feeds, repairing, incompleteExamples, notices, health } = status
  const lines = [`\ncatalog ${catalog}: ${health}`]
  if (repairing) {
    lines.push(
      '  what Redis holds is replaced from the mirror by the daemon that imports; calls begin after that',
    )
  }
  for (const { text, at } of notices)
    lines.push(`  ! ${text}${at === null ? '' : ` (since ${agoOf(at, nowMs)})`}`)
  lines.push(...formatCalls(overview, '', nowMs))
  const hasProducts = feeds.some(({ kind }) => kind === 'products') || overview.products > 0
  if (hasProducts) lines.push(...formatProducts(overview), ...formatRecent(status, nowMs))
  for (const { productId, missing } of incompleteExamples)
    lines.push(`  incomplete: ${productId} lacks ${missing}`)
  if (consents) lines.push(...formatConsents(consents, nowMs))
  lines.push(...feeds.flatMap((feed) => formatFeed(feed, nowMs)))
  return lines.join('\n')
}

/** What keeps calls from being made, if anything does; `whose` in front of it. */
function formatCalls(overview: OutboxOverview, whose: string, nowMs: number): string[] {
  const { paused, holdReason, holdMs, failuresInARow, lastFailure } = overview
  const lines = paused.flatMap(({ reason, since, hint, triedAt, nextTryMs }) => [
    `  ${whose}paused (${reason}) since ${agoOf(since, nowMs)}: ${hint}`,
    ...formatTries({ triedAt, nextTryMs }, nowMs),
  ])
  if (holdReason !== undefined) {
    lines.push(`  ${whose}${describeHold(holdReason)}: next call in ${Math.ceil(holdMs / 1000)} s`)
  }
  if (failuresInARow > 0 && lastFailure) {
    lines.push(
      `  ${whose}${countOf(failuresInARow, 'failed call')} in a row, the last at ${agoOf(lastFailure.at, nowMs)}: ${lastFailure.text}`,
    )
  }
  return lines
}

function formatTries({ triedAt, nextTryMs }: Pick<Pause, 'triedAt' | 'nextTryMs'>, nowMs: number): string[] {
  const last = triedAt === undefined ? [] : [`tried last at ${agoOf(triedAt, nowMs)}`]
  const next =
    nextTryMs === undefined
      ? []
      : [`next try ${nextTryMs > 0 ? `in ${Math.ceil(nextTryMs / 1000)} s` : 'now'}`]
  return last.length + next.length > 0 ? [`    ${[...last, ...next].join(', ')}`] : []
}

/** Why no call starts for a while. */
export function describeHold(reason: string): string {
  if (reason !== 'start-over') return reason
  return 'every product is sent once more, when no earlier call can take effect any more'
}

function formatProducts(overview: OutboxOverview): string[] {
  const { products, incomplete, dead, lanes, echoes } = overview
  const unsent = overview.pending - dead - overview.repeats
  const waits = unsent > 0 ? `${formatCount(unsent)} not delivered yet` : 'none waits'
  const refused = dead > 0 ? `, ${formatCount(dead)} refused (catalogd dead list)` : ''
  const lacking = incomplete > 0 ? `, ${formatCount(incomplete)} incomplete` : ''
  const lines = [`  products  ${formatCount(products)}, ${waits}${refused}${lacking}`]
  const rows = Object.entries(lanes).flatMap(([lane, { waiting, oldestMs, dueInMs }]) => {
    const overdue = oldestMs > 0 ? formatAge(oldestMs) : ''
    const due = dueInMs > 0 ? `in ${formatAge(dueInMs)}` : 'now'
    return waiting > 0 ? [[`  ${lane}`, formatCount(waiting), overdue, due]] : []
  })
  if (rows.length > 0) lines.push(formatTable([['  lane', 'waiting', 'overdue', 'next due'], ...rows]))
  if (overview.inFlight > 0) lines.push(`  ${overview.inFlight} in flight`)
  if (echoes.waiting > 0) {
    const when = `the last in ${formatAge(echoes.dueInMs)}`
    lines.push(`  ${echoes.waiting} to be sent once more, ${when}: earlier calls may take effect until then`)
  }
  const { learnedBodyBytes, learnedBodyBytesAgeMs = 0 } = overview
  if (learnedBodyBytes !== undefined) {
    lines.push(
      `  calls have at most ${formatCount(learnedBodyBytes)} bytes: the endpoint refused larger ones ${formatAge(learnedBodyBytesAgeMs)} ago; the limit grows again`,
    )
  }
  return lines
}

function formatRecent({ calls: { lastAcknowledgedAt, lastMinute } }: CatalogStatus, nowMs: number): string[] {
  if (lastAcknowledgedAt === null) return []
  const { calls, products, bytes } = lastMinute
  const rate =
    calls === 0
      ? 'no call in the last minute'
      : `${countOf(products, 'product')} in ${countOf(calls, 'call')} (${(bytes / 1e6).toFixed(1)} MB) in the last minute`
  return [`  last acknowledgement ${agoOf(lastAcknowledgedAt, nowMs)}`, `    ${rate}`]
}

function formatConsents(overview: OutboxOverview, nowMs: number): string[] {
  const { products: known, pending, dead, lanes, inFlight } = overview
  const { urgent: revocations, new: grants } = lanes
  const waiting = [
    countOf(revocations.waiting, 'revocation'),
    `${countOf(grants.waiting, 'grant')}${grants.oldestMs > 0 ? `, overdue for ${formatAge(grants.oldestMs)}` : ''}`,
  ]
  return [
    `  consents  ${formatCount(known)}, ${pending - dead} not delivered yet, ${dead} refused or not confirmed (catalogd dead list --consents)`,
    ...(pending - dead > 0 ? [`    waiting: ${waiting.join(', ')}; ${inFlight} in flight`] : []),
    ...formatCalls(overview, 'consents: ', nowMs),
  ]
}

function formatFeed(status: FeedStatus, nowMs: number): string[] {
  const { feed, lastFile, waitingFiles, dropped, refused, stale, running, held, pull } = status
  const last = lastFile
    ? `last file ${lastFile.name} (import ${lastFile.sequence}, ${describeOutcome(lastFile)}) of ${agoOf(lastFile.acceptedAt, nowMs)}`
    : 'no file yet'
  const lines = [`  feed ${feed}: ${last}${waitingFiles > 1 ? `, ${waitingFiles} files wait` : ''}`]
  if (dropped > 0) lines.push(...formatDropped(status, nowMs))
  if (pull) lines.push(...formatPull(pull, nowMs))
  if (refused.files > 0) {
    lines.push(
      `    ${countOf(refused.files, 'refused file')} in ${refused.folder}: the reports beside them say why; drop a corrected file, then delete them there`,
    )
  }
  if (stale) {
    const { expectEveryMs, sinceMs } = stale
    lines.push(`    no file for ${formatAge(sinceMs)}, one is expected every ${formatAge(expectEveryMs)}`)
  }
  if (running) {
    const percent = Math.round((100 * running.bytesRead) / Math.max(1, running.bytes))
    lines.push(`    ${running.phase} ${running.file}: ${percent} %, ${countOf(running.records, 'record')}`)
  }
  for (const { kind, sequence, file, at, reason } of held) {
    const what =
      kind === 'file'
        ? `nothing of ${file} was applied`
        : `removals of ${file} (what else it says is imported)`
    lines.push(
      `    held since ${agoOf(at, nowMs)}, ${what}: ${reason}; catalogd approve ${sequence} or catalogd discard ${sequence}`,
    )
  }
  return lines
}

function formatDropped({ dropped, droppedFiles }: FeedStatus, nowMs: number): string[] {
  const more = dropped - droppedFiles.length
  return [
    `    ${countOf(dropped, 'file')} in the drop folder, not accepted yet${droppedFiles.length > 0 ? ':' : ''}`,
    ...droppedFiles.map((file) => `      ${describeDropped(file, nowMs)}`),
    ...(more > 0 && droppedFiles.length > 0 ? [`      and ${formatCount(more)} more`] : []),
  ]
}

function describeDropped({ name, changedAt, madeAt, waitsFor }: DroppedFile, nowMs: number): string {
  const isOlder = madeAt !== null && Date.parse(changedAt) - Date.parse(madeAt) > 1_000
  const made = isOlder ? `made at ${agoOf(madeAt, nowMs)}, ` : ''
  const awaited = waitsFor ? `: ${describeAwaited(waitsFor)}` : ''
  return `${name}, ${made}changed last at ${agoOf(changedAt, nowMs)}${awaited}`
}

function describeAwaited(awaited: Awaited): string {
  switch (awaited.kind) {
    case 'settle':
      return `it may still grow, and is taken when size and time stay the same for ${formatAge(awaited.forMs)} (settle)`
    case 'marker':
      return `its marker is missing: ${awaited.names.join(' or ')} (done)`
    case 'old-marker':
      return `its marker is older than the file, which is taken ${formatAge(awaited.forMs)} after its last change, or when ${awaited.names.join(' or ')} is written again (done)`
    case 'side-file':
      return `its side file is missing, or is still written: ${awaited.names.join(' or ')}`
  }
}

function formatPull(pull: NonNullable<FeedStatus['pull']>, nowMs: number): string[] {
  const { from, schedule, lastAt, nextAt, failure } = pull
  const last = lastAt === null ? 'not fetched yet' : `last asked at ${agoOf(lastAt, nowMs)}`
  const next = nextAt === null ? 'not scheduled: catalogd start' : `next at ${formatTime(nextAt)}`
  const lines = [`    from ${from} ${schedule}: ${last}, ${next}`]
  if (failure) {
    const { since, times, text } = failure
    lines.push(`    fetching fails since ${agoOf(since, nowMs)} (${countOf(times, 'time')}): ${text}`)
  }
  return lines
}

/** With what was decided about what the import held. */
export function formatOutcome(outcome: string, decision: 'approve' | 'discard' | null): string {
  if (decision === null) return outcome
  return `${outcome}, ${decision === 'approve' ? 'approved' : 'discarded'}`
}

function describeOutcome({
  sequence,
  outcome,
  decision,
  records,
  rejected,
}: NonNullable<FeedStatus['lastFile']>): string {
  if (outcome === null) return 'waiting'
  const more = rejected ? `, ${rejected} of ${records} records rejected: catalogd imports ${sequence}` : ''
  return formatOutcome(outcome, decision) + more
}

/** A span of time in the unit that a person would choose. */
export function formatAge(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}
