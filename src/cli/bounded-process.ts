import { setFlagsFromString } from 'node:v8'
import { readEnvironment } from '../config/environment.ts'
import { codeFolder, trimCode } from './code-cache.ts'

/**
 * V8 sizes its heap by the machine's memory: on a large one the daemon would grow by hundreds of megabytes of garbage
 * before collecting any. These bounds keep the garbage small, and what it really keeps (three heaps of below 60 MB each;
 * tables of ids are outside of them) has ample room.
 */
const heapFlags = [
  '--max-semi-space-size=2',
  '--max-old-space-size=1536',
  // The helper threads of each young collection wait for each other: up to a fifth of a first load's CPU.
  '--no-parallel-scavenge',
  // During a load V8 may decide to make some objects in the old heap. What they refer to then stays alive until that heap
  // is collected: every second or third first load took up to 40 % longer.
  '--no-allocation-site-pretenuring',
  // See collectAtRest.
  '--expose-gc',
]
/**
 * For the threads that are started after this. With 2 MB, more of the records that a thread works on move to the old heap:
 * a first load takes an eighth more CPU. The main thread keeps 2 MB, since each of its collections delays urgent calls.
 */
const youngOfThreads = '--max-semi-space-size=8'

/**
 * By default the C library gives threads arenas of their own, and what one has freed no other can use: here all share
 * one. The tables of a load go back to the system at once, and so does the free end of the arena except for 4 MB: the body
 * of a call takes 2 MB, and would be paged in again for each call.
 */
const arenas = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: String(2 ** 21),
  MALLOC_TRIM_THRESHOLD_: String(2 ** 22),
}

const longRunning = new Set(['start', 'load'])

/** Of `completion` the words are those of another command line. */
function runsLong([first, ...others]: readonly string[]): boolean {
  return first !== 'completion' && [first, ...others].some((word = '') => longRunning.has(word))
}

/**
 * Replaces this process by the same command under bounds, when it is one that runs long: same process id, same streams.
 * Returns when there is nothing to do, or the system cannot (Windows).
 */
export function boundMemory(argv: readonly string[]): void {
  const isBounded = process.execArgv.some((flag) => flag.startsWith('--max-old-space-size'))
  if (isBounded) setFlagsFromString(youngOfThreads)
  if (isBounded || process.platform === 'win32' || !runsLong(argv)) return
  trimCode()
  const [node = process.execPath, ...command] = process.argv
  process.execve?.(process.execPath, [node, ...heapFlags, ...process.execArgv, ...command], {
    ...arenas,
    // From its first module on and in its threads, too: what strips types takes 30 MB where it is needed.
    NODE_COMPILE_CACHE: codeFolder(),
    ...readEnvironment(),
  })
}
