import { join } from 'node:path'
import { movedFields, rankFields } from '../catalog/ranks.ts'
import type { Config } from '../config/model.ts'
import { ConfigProblemsError } from '../config/problems.ts'
import type { Clock } from '../lib/clock.ts'
import { ConfigError, type OperatingError, StorageError } from '../lib/errors.ts'
import { signalLockHolder } from '../sources/state-lock.ts'
import { type ReloadOutcome, readDaemonRecord } from './daemon-record.ts'

export function describeReloadError(error: OperatingError): NonNullable<ReloadOutcome['error']> {
  const { code, message, hint } = error
  const problems = error instanceof ConfigProblemsError ? [...error.problems] : undefined
  return { code, message, hint, problems }
}

/** What of a new configuration takes no effect by itself. */
export function notesOf(before: Config, after: Config): string[] {
  return [...after.catalogs].flatMap(([name, { feeds }]) => {
    const former = before.catalogs.get(name)
    const moved = former ? movedFields(rankFields(former.feeds), rankFields(feeds)) : []
    return moved.map(({ field, from, to }) => {
      const change = to
        ? `the feed ${to} writes ${field} now, in place of ${from}`
        : `no feed writes ${field} any more`
      const file = to ? `a file of ${to}` : 'a file'
      return `catalog ${name}: ${change}. A product keeps its value until ${file} names it: load the last one again ("catalogd imports <import>" says where it is kept)`
    })
  })
}

const lookEveryMs = 50
/** Running calls may take ten seconds, for each catalog. */
const answerWithinMs = 5 * 60_000

interface Asking {
  config: Config
  clock: Clock
  signal: AbortSignal
}

/**
 * Asks the daemon of this state folder to read its configuration again, and waits until that is done. Throws why it was
 * refused.
 */
export async function reloadDaemon({ config, clock, signal }: Asking) {
  const { stateDir } = config
  const before = await readDaemonRecord(stateDir)
  const holder = await signalLockHolder({ file: join(stateDir, 'lock'), clock }, 'SIGHUP')
  if (holder === undefined) {
    throw new StorageError('no-daemon', `no catalogd works on ${stateDir}`, {
      hint: 'Start it: it reads the configuration then. Where "state" was changed, restart the one that runs',
    })
  }
  const giveUpAt = clock.monotonic() + answerWithinMs
  const seen = before?.pid === holder.pid ? (before.reload?.number ?? 0) : 0
  for (;;) {
    const record = await readDaemonRecord(stateDir)
    const { reload } = record ?? {}
    if (record?.pid === holder.pid && reload && reload.number > seen) {
      if (reload.error) throw refusalOf(reload.error)
      return { pid: holder.pid, config: record.configFile, changed: reload.changed, notes: reload.notes }
    }
    if (clock.monotonic() > giveUpAt) {
      throw new StorageError('reload-unanswered', `catalogd (pid ${holder.pid}) has not answered`, {
        hint: 'Look at its log',
      })
    }
    await clock.sleep(lookEveryMs, signal)
  }
}

function refusalOf({ code, message, hint, problems }: NonNullable<ReloadOutcome['error']>): ConfigError {
  if (problems) return new ConfigProblemsError(problems)
  return new ConfigError(code, message, hint === undefined ? {} : { hint })
}
