import { ExitCode } from '../lib/errors.ts'
import type { CatalogStatus, FeedStatus, Status } from '../operations/read-status.ts'
import type { OutboxOverview } from '../outbox/overview.ts'
import type { CommandDefinition } from './context.ts'
import { countOf, formatCount, formatTable } from './table.ts'

export const statusCommand: CommandDefinition = {
  usage: 'status',
  summary: 'show what waits, what runs, and what is wrong',
  details:
    'Exit code 0: all is well; 1: something asks for an operator (held, refused, failed); 3: no calls are made; 4: Redis is down (what is on disk is shown all the same), refuses changes, or is short of memory.',
  examples: ['catalogd status', 'catalogd status --json'],
  async run(context) {
    const { openStorage } = await import('../storage.ts')
    const { readStatus } = await import('../operations/read-status.ts')
    const { config } = await context.loadedConfig()
    const catalogs = await context.catalogs()
    const { clock, log, signal } = context
    await using storage = await openStorage({ config, clock, log, signal, mayBeDown: true })
    const { connections } = storage
    const status = await readStatus({ config, connections, clock, log, signal }, catalogs)
    context.print(status, formatStatus)
    if (redisTrouble(status.redis) !== undefined) return ExitCode.storage
    if (status.catalogs.some(({ health }) => health === 'stopped')) return ExitCode.endpoint
    return status.catalogs.every(({ health }) => health === 'ok') ? ExitCode.done : ExitCode.data
  },
}

function formatStatus({ daemon, redis, catalogs }: Status): string {
  const who = daemon
    ? `daemon    pid ${daemon.pid} on ${daemon.host}, since ${daemon.since}`
    : 'daemon    none runs: catalogd start'
  const trouble = redisTrouble(redis)
  const where = `redis     ${trouble ?? 'up'}`.concat(trouble === undefined ? ` at ${redis.address}` : '')
  return [who, where, ...catalogs.map(formatCatalog)].join('\n')
}

/** Undefined: it can be read and written. */
function redisTrouble(redis: Status['redis']): string | undefined {
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

function formatCatalog({
  catalog,
  overview,
  consents,
  feeds,
  repairing,
  incompleteExamples,
  notices,
  health,
}: CatalogStatus): string {
  const lines = [`\ncatalog ${catalog}: ${health}`]
  if (repairing) {
    lines.push(
      '  what Redis holds is replaced from the mirror by the daemon that imports; calls begin after that',
    )
  }
  for (const { text, at } of notices) lines.push(`  ! ${text} (${at})`)
  lines.push(...formatCalls(overview, ''))
  const hasProducts = feeds.some(({ kind }) => kind === 'products') || overview.products > 0
  if (hasProducts) lines.push(...formatProducts(overview))
  for (const { productId, missing } of incompleteExamples)
    lines.push(`  incomplete: ${productId} lacks ${missing}`)
  if (consents) lines.push(...formatConsents(consents))
  lines.push(...feeds.flatMap(formatFeed))
  return lines.join('\n')
}

/** What keeps calls from being made, if anything does; `whose` in front of it. */
function formatCalls(overview: OutboxOverview, whose: string): string[] {
  const { paused, holdReason, holdMs, failuresInARow, lastFailure } = overview
  const lines = paused.map(
    ({ reason, since, hint }) => `  ${whose}paused (${reason}) since ${since}: ${hint}`,
  )
  if (holdReason !== undefined) {
    lines.push(`  ${whose}${describeHold(holdReason)}: next call in ${Math.ceil(holdMs / 1000)} s`)
  }
  if (failuresInARow > 0 && lastFailure) {
    lines.push(
      `  ${whose}${countOf(failuresInARow, 'failed call')} in a row, the last at ${lastFailure.at}: ${lastFailure.text}`,
    )
  }
  return lines
}

/** Why no call starts for a while. */
export function describeHold(reason: string): string {
  if (reason !== 'start-over') return reason
  return 'every product is sent once more, when no earlier call can take effect any more'
}

function formatProducts(overview: OutboxOverview): string[] {
  const { lanes, echoes } = overview
  const lines = [
    `  products  ${formatCount(overview.products)}, ${overview.pending - overview.dead} not delivered yet, ${overview.dead} refused (catalogd dead list), ${overview.incomplete} incomplete`,
    formatTable(
      [
        ['  lane', 'waiting', 'overdue', 'next due'],
        ...Object.entries(lanes).map(([lane, { waiting, oldestMs, dueInMs }]) => [
          `  ${lane}`,
          waiting,
          oldestMs > 0 ? formatAge(oldestMs) : '',
          waiting > 0 ? (dueInMs > 0 ? `in ${formatAge(dueInMs)}` : 'now') : '',
        ]),
      ],
      '',
    ),
  ]
  if (overview.inFlight > 0) lines.push(`  ${overview.inFlight} in flight`)
  if (echoes.waiting > 0) {
    lines.push(`  ${echoes.waiting} to be sent once more, the last in ${formatAge(echoes.dueInMs)}`)
  }
  const { learnedBodyBytes, learnedBodyBytesAgeMs = 0 } = overview
  if (learnedBodyBytes !== undefined) {
    lines.push(
      `  calls have at most ${formatCount(learnedBodyBytes)} bytes: the endpoint refused larger ones ${formatAge(learnedBodyBytesAgeMs)} ago; the limit grows again`,
    )
  }
  return lines
}

function formatConsents(overview: OutboxOverview): string[] {
  const { products: known, pending, dead, lanes, inFlight } = overview
  const { urgent: revocations, new: grants } = lanes
  const waiting = [
    countOf(revocations.waiting, 'revocation'),
    `${countOf(grants.waiting, 'grant')}${grants.oldestMs > 0 ? `, overdue for ${formatAge(grants.oldestMs)}` : ''}`,
  ]
  return [
    `  consents  ${formatCount(known)}, ${pending - dead} not delivered yet, ${dead} refused or not confirmed (catalogd dead list --consents)`,
    ...(pending - dead > 0 ? [`    waiting: ${waiting.join(', ')}; ${inFlight} in flight`] : []),
    ...formatCalls(overview, 'consents: '),
  ]
}

function formatFeed(status: FeedStatus): string[] {
  const { feed, lastFile, waitingFiles, refused, stale, running, held, pull } = status
  const last = lastFile
    ? `last file ${lastFile.name} (import ${lastFile.sequence}, ${describeOutcome(lastFile)}) of ${lastFile.acceptedAt}`
    : 'no file yet'
  const lines = [`  feed ${feed}: ${last}${waitingFiles > 1 ? `, ${waitingFiles} files wait` : ''}`]
  if (pull) lines.push(...formatPull(pull))
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
    const what = kind === 'file' ? `nothing of ${file} was applied` : `removals of ${file}`
    lines.push(
      `    held since ${at}, ${what}: ${reason}; catalogd approve ${sequence} or catalogd discard ${sequence}`,
    )
  }
  return lines
}

function formatPull({ from, schedule, lastAt, nextAt, failure }: NonNullable<FeedStatus['pull']>): string[] {
  const last = lastAt === null ? 'not fetched yet' : `last asked at ${lastAt}`
  const next = nextAt === null ? 'not scheduled: catalogd start' : `next at ${nextAt}`
  const lines = [`    from ${from} ${schedule}: ${last}, ${next}`]
  if (failure) {
    const { since, times, text } = failure
    lines.push(`    fetching fails since ${since} (${countOf(times, 'time')}): ${text}`)
  }
  return lines
}

function describeOutcome({
  sequence,
  outcome,
  records,
  rejected,
}: NonNullable<FeedStatus['lastFile']>): string {
  if (outcome === null) return 'waiting'
  const more = rejected ? `, ${rejected} of ${records} records rejected: catalogd imports ${sequence}` : ''
  return outcome + more
}

/** A span of time in the unit that a person would choose. */
export function formatAge(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}
