import { readdir, readFile } from 'node:fs/promises'
import { waitFor } from './events.ts'

/**
 * For `afterEach`: fails when a test leaves child processes, servers, sockets, watchers or timers behind. Servers that
 * a whole file shares are opened before `leakCheck()` is called, in `beforeAll`.
 *
 * ```ts
 * const leaks = leakCheck()
 * beforeEach(leaks.remember)
 * afterEach(leaks.check)
 * ```
 */
export function leakCheck(): { remember: () => Promise<void>; check: () => Promise<void> } {
  let before: Open = { children: new Set(), handles: new Map() }
  return {
    remember: async () => {
      before = await findOpen()
    },
    check: async () => {
      let left: string[] = []
      const clean = async () => {
        left = leftBehind(before, await findOpen())
        return left.length === 0
      }
      // Sockets and processes take a moment to close after their owner has let go of them.
      await waitFor(clean, { withinMs: 20_000 }).catch(() => {
        throw new Error(`the test left behind: ${left.join(', ')}`)
      })
    },
  }
}

interface Open {
  children: ReadonlySet<string>
  /** Kind → how many. */
  handles: ReadonlyMap<string, number>
}

async function findOpen(): Promise<Open> {
  const handles = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) {
    // Timers and file requests of the runner come and go; a forgotten timer shows as what it keeps open.
    if (kind === 'Timeout' || kind === 'Immediate' || kind.startsWith('FSReq')) continue
    handles.set(kind, (handles.get(kind) ?? 0) + 1)
  }
  return { children: await childProcesses(), handles }
}

function leftBehind(before: Open, now: Open): string[] {
  const children = [...now.children].filter((child) => !before.children.has(child))
  const handles = [...now.handles]
    .filter(([kind, count]) => count > (before.handles.get(kind) ?? 0))
    .map(([kind, count]) => `${count - (before.handles.get(kind) ?? 0)} ${kind}`)
  return [...children, ...handles]
}

/** `pid name` of the children of this process, zombies included. Empty where there is no /proc. */
async function childProcesses(): Promise<Set<string>> {
  const entries = await readdir('/proc').catch(() => [])
  const found = new Set<string>()
  for (const pid of entries.filter((entry) => /^\d+$/.test(entry))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    // pid (name) state parent …; the name may contain spaces and parentheses.
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(parent) === process.pid)
      found.add(`${pid} ${stat.slice(stat.indexOf('('), stat.lastIndexOf(')') + 1)}`)
  }
  return found
}
