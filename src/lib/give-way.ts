import { getPriority, setPriority } from 'node:os'

/** The lowest there is. */
const niceMax = 19

/**
 * The calling thread runs after those of its process that give way less, where there are too few processors for all. Only
 * Linux gives threads priorities of their own: elsewhere the whole process would give way.
 */
export function giveWay(by: number): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Math.min(niceMax, getPriority() + by))
  } catch {
    // A sandbox may forbid it: then the system shares the processors out as it likes.
  }
}
