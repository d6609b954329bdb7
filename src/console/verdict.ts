import type { Config } from '../config/model.ts'
import type { CatalogStatus } from '../operations/read-status.ts'
import type { OutboxOverview } from '../outbox/overview.ts'
import { plural, span } from './format.ts'
import type { ConsoleStatus } from './reads.ts'

/** Something that a person should look at. */
export interface Matter {
  severity: 'stopped' | 'attention'
  text: string
  hint?: string
  catalog?: string
  /** The page that has more. */
  page?: '/feeds' | '/dead-letters'
}

export interface Verdict {
  state: 'ok' | Matter['severity']
  /** Whether all is well, in one line without anything that changes by the second. */
  text: string
  matters: Matter[]
}

const urgentLagMsDefault = 5 * 60_000

/** What an operator who is called at night must know first, over all catalogs. Pure. */
export function judge(status: ConsoleStatus, config: Config): Verdict {
  const lagMs = config.alerts?.urgentLagMs ?? urgentLagMsDefault
  const isOne = status.catalogs.length === 1
  const ofCatalogs = status.catalogs.flatMap((one) =>
    mattersOfCatalog(one, lagMs).map((matter): Matter => {
      const text = isOne ? matter.text : `catalog ${one.catalog}: ${matter.text}`
      return { ...matter, text, catalog: one.catalog }
    }),
  )
  const matters = [...mattersOfHost(status), ...ofCatalogs]
  const [first] = matters.toSorted((one, other) => rank(one) - rank(other))
  if (first === undefined) return { state: 'ok', text: 'All is well.', matters }
  const others = matters.length > 1 ? ` and ${plural(matters.length - 1, 'more matter')}` : ''
  const text = first.severity === 'stopped' ? 'Nothing is sent' : 'Somebody should look'
  return { state: first.severity, text: `${text}: ${first.text}${others}.`, matters }
}

function rank({ severity }: Matter): number {
  return severity === 'stopped' ? 0 : 1
}

function mattersOfHost({ redis, daemon, freeBytes }: ConsoleStatus): Matter[] {
  const matters: Matter[] = []
  if (!redis.up) {
    const hint = `${redis.error}. Files are still accepted and imported; delivery goes on by itself when Redis is back.`
    matters.push({ severity: 'stopped', text: `Redis at ${redis.address} cannot be reached`, hint })
  } else if (redis.info.aof === 'failing') {
    const hint = 'Free disk space where Redis runs; everything goes on by itself.'
    matters.push({ severity: 'stopped', text: 'Redis cannot write its append-only file', hint })
  } else if (redis.info.isShortOfMemory) {
    const hint = 'Raise maxmemory of Redis; what it holds is delivered meanwhile.'
    matters.push({ severity: 'attention', text: 'Redis is short of memory', hint })
  }
  if (daemon === null) {
    const hint = 'Start catalogd with the roles watch and import.'
    matters.push({ severity: 'attention', text: 'no process accepts and imports files', hint })
  }
  if (freeBytes < 64_000_000) {
    const hint = 'Free space on the disk of the state folder; accepting goes on by itself.'
    matters.push({ severity: 'attention', text: 'the disk is nearly full', hint })
  }
  return matters
}

function mattersOfCatalog(status: CatalogStatus, urgentLagMs: number): Matter[] {
  const { overview, consents, feeds, notices, repairing } = status
  const matters: Matter[] = []
  for (const [whose, of] of [
    ['', overview],
    ['consents: ', consents],
  ] as const) {
    if (of !== null) matters.push(...mattersOfCalls(of, whose))
  }
  if (repairing) {
    const hint = 'What Redis lost is replaced from the mirror; calls begin after that by themselves.'
    matters.push({ severity: 'stopped', text: 'Redis is filled again', hint })
  }
  const { oldestMs } = overview.lanes.urgent
  if (oldestMs > urgentLagMs) {
    matters.push({ severity: 'attention', text: `urgent changes wait for more than ${span(urgentLagMs)}` })
  }
  for (const { feed, held, refused, stale } of feeds) {
    for (const { sequence, file } of held) {
      const hint = 'Approve or discard it.'
      matters.push({
        severity: 'attention',
        text: `import ${sequence} of ${file} is held`,
        hint,
        page: '/feeds',
      })
    }
    if (refused.files > 0) {
      const hint = `The reports in ${refused.folder} say why. Drop a corrected file, then delete them there.`
      matters.push({
        severity: 'attention',
        text: `${plural(refused.files, 'file')} of feed ${feed} refused`,
        hint,
      })
    }
    if (stale) {
      const text = `no file of feed ${feed} came for ${span(stale.sinceMs)}`
      const hint = `One is expected every ${span(stale.expectEveryMs)}.`
      matters.push({ severity: 'attention', text, hint, page: '/feeds' })
    }
  }
  if (overview.dead > 0) {
    const text = `the endpoint refused ${plural(overview.dead, 'product')}`
    matters.push({ severity: 'attention', text, page: '/dead-letters' })
  }
  if (consents !== null && consents.dead > 0) {
    const text = `${plural(consents.dead, 'consent')} refused or not confirmed`
    matters.push({ severity: 'attention', text, page: '/dead-letters' })
  }
  return [...matters, ...notices.map(({ text }) => ({ severity: 'attention' as const, text }))]
}

function mattersOfCalls({ paused, failuresInARow, lastFailure }: OutboxOverview, whose: string): Matter[] {
  const pauses = paused.map(({ reason, hint }): Matter => {
    const text = {
      operator: 'paused by an operator',
      credentials: 'the endpoint refuses the credentials',
      'refuses-everything': 'the endpoint refuses everything',
    }[reason]
    return { severity: 'stopped', text: `${whose}${text}`, hint }
  })
  if (pauses.length > 0 || failuresInARow < 3) return pauses
  const failing: Matter = { severity: 'attention', text: `${whose}calls fail, ${failuresInARow} in a row` }
  return [lastFailure === undefined ? failing : { ...failing, hint: lastFailure.text }]
}
