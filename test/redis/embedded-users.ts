import { systemClock } from '../../src/lib/clock.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { type EmbeddedRedis, openEmbeddedRedis } from '../../src/redis/embedded-redis.ts'
import { type Child, isRunning, startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'

export const open = (dir: string, log = collectLog().log) =>
  openEmbeddedRedis({ dir, clock: systemClock, log })
export const connect = (embedded: EmbeddedRedis) =>
  openRedis({
    address: { kind: 'socket', path: embedded.socketPath },
    clock: systemClock,
    log: collectLog().log,
  })

export const startUser = (dir: string, env: Record<string, string> = {}): Promise<Child> =>
  startChild(new URL('embedded-user.ts', import.meta.url), { args: [dir], env })

/** The process id of the server that a user joined. */
export async function serverPid(user: Child): Promise<number> {
  const [, pid] = (await user.line(/^(joined|failed)/)).split(' ')
  return Number(pid)
}

export const gone = (pid: number) =>
  waitFor(async () => !(await isRunning(pid)), { what: `the end of ${pid}` })
