import type { Heartbeat } from '../../src/lib/watchdog.ts'

/**
 * For a watchdog with short ticks in the process of the tests: nobody ends that process when its event loop is held up
 * for as long as a few of them, as happens on a busy machine.
 */
export function unguarded(): Heartbeat {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}
