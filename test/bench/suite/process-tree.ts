import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** The kernel's unit of CPU times. */
const ticksPerSecond = 100

/** CPU seconds that a process, its living descendants and its descendants that have exited have used so far. */
export function cpuOfTree(pid: number): number {
  const children = childrenByParent()
  const sum = (one: number): number =>
    ticksOf(one) + (children.get(one) ?? []).reduce((ticks, child) => ticks + sum(child), 0)
  return sum(pid) / ticksPerSecond
}

/** CPU seconds of children of this process that have exited and were waited for. */
export function cpuOfExitedChildren(): number {
  const fields = statOf(process.pid)
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
}

/** MB now, and at most since the last reset. */
export function memoryOf(pid: number): { nowMegabytes: number; peakMegabytes: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string) =>
    Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) * 1.024e-3
  return { nowMegabytes: megabytes('VmRSS'), peakMegabytes: megabytes('VmHWM') }
}

export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = Number(statOf(Number(name))[1])
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  return children
}

/** User and system time, of the process itself and of children that were waited for. */
function ticksOf(pid: number): number {
  const fields = statOf(pid)
  return [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field] ?? 0), 0)
}

/** The fields behind the name, which is in brackets; empty when the process is gone. */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(') ') + 2).split(' ')
  } catch {
    return []
  }
}
