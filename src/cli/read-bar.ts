import { stat } from 'node:fs/promises'
import type { Clock } from '../lib/clock.ts'
import type { BarLine } from './bar-line.ts'
import { openProgressBar } from './progress-bar.ts'

interface ReadBarOptions {
  /** What is being done with it. */
  label: string
  /** How often the file is read from its beginning. */
  passes: number
  /** Undefined: nobody watches. */
  barLine: BarLine | undefined
  clock: Pick<Clock, 'monotonic'>
}

/** A smaller file is read before a bar could be seen. */
const largeBytes = 10_000_000

/** Shows a bar while a large file is read; nothing of it stays. */
export async function withReadBar<T>(
  file: string,
  { label, passes, barLine, clock }: ReadBarOptions,
  read: (onProgress: ((bytesRead: number) => void) | undefined) => Promise<T>,
): Promise<T> {
  const bytes = barLine ? await bytesOf(file) : 0
  if (!barLine || bytes < largeBytes) return read(undefined)
  using bar = openProgressBar(barLine, clock)
  const startedMs = clock.monotonic()
  let done = 0
  let last = 0
  return await read((bytesRead) => {
    if (bytesRead < last) done += bytes
    last = bytesRead
    const rate = (done + bytesRead) / 1_000 / Math.max(1, clock.monotonic() - startedMs)
    bar.show((done + bytesRead) / (bytes * passes), `${label}, ${Math.round(rate)} MB/s`)
  })
}

/** What is wrong with the file, reading it will say. */
async function bytesOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch {
    return 0
  }
}
