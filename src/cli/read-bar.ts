import { stat } from 'node:fs/promises'
import { type BarOptions, openProgressBar } from './progress-bar.ts'

interface ReadBarOptions extends Pick<BarOptions, 'stream'> {
  /** What is being done with it. */
  label: string
  /** How often the file is read from its beginning. */
  passes: number
  /** A person watches. */
  isTerminal: boolean
}

/** A smaller file is read before a bar could be seen. */
const largeBytes = 10_000_000

/** Shows a bar on standard error while a large file is read; nothing of it stays. */
export async function withReadBar<T>(
  file: string,
  { label, passes, isTerminal, ...options }: ReadBarOptions,
  read: (onProgress: ((bytesRead: number) => void) | undefined) => Promise<T>,
): Promise<T> {
  const bytes = isTerminal ? await bytesOf(file) : 0
  if (bytes < largeBytes) return read(undefined)
  using bar = openProgressBar({ ...options, clears: true })
  let done = 0
  let last = 0
  return await read((bytesRead) => {
    if (bytesRead < last) done += bytes
    last = bytesRead
    bar.show(Math.min(100, Math.round((100 * (done + bytesRead)) / (bytes * passes))), label)
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
