import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { z } from 'zod'

/** Says which process it is, so that others can find out whether it lives. */
export const processIdentitySchema = z.object({
  host: z.string(),
  pid: z.int().positive(),
  /** Start of the process in ticks since the machine booted: a pid alone is used again. Absent where unknown. */
  started: z.string().optional(),
  /** The process table that the pid belongs to (boot and container). Absent where there is no telling. */
  table: z.string().optional(),
})

export type ProcessIdentity = z.infer<typeof processIdentitySchema>

export function ownIdentity(): ProcessIdentity {
  return { host: hostname(), pid: process.pid, started: startOf(process.pid), table: processTable() }
}

/** `unknown`: on another host or in another container, or a system without `/proc`. */
export function lifeOf(identity: ProcessIdentity): 'alive' | 'dead' | 'unknown' {
  if (identity.table === undefined || identity.started === undefined) return 'unknown'
  if (identity.table !== processTable()) return 'unknown'
  return startOf(identity.pid) === identity.started ? 'alive' : 'dead'
}

/** Field 22 of `/proc/<pid>/stat`; the command in field 2 may hold spaces and parentheses. A zombie counts as dead. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

/** Containers have process tables of their own, and lock names (`acquire-turn.ts`) belong to the network's name space. */
function processTable(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return [boot, readlinkSync('/proc/self/ns/pid'), readlinkSync('/proc/self/ns/net')].join(' ')
  } catch {
    return undefined
  }
}
