import { Presets, SingleBar } from 'cli-progress'
import { safeLine } from '../lib/terminal-text.ts'

export interface ProgressBar extends Disposable {
  show(percent: number, text: string): void
}

export interface BarOptions {
  /** Nothing of it stays. */
  clears?: boolean
  /** Default: standard error. */
  stream?: NodeJS.WritableStream
}

/** A bar on standard error that moves in its line: the only thing besides the log that commands the terminal. */
export function openProgressBar({ clears = false, stream = process.stderr }: BarOptions = {}): ProgressBar {
  const format = '{bar} {percentage} % | {text}'
  const bar = new SingleBar(
    { format, stream, hideCursor: true, clearOnComplete: clears },
    Presets.shades_classic,
  )
  bar.start(100, 0, { text: '' })
  return {
    show: (percent, text) => bar.update(percent, { text: safeLine(text) }),
    [Symbol.dispose]: () => bar.stop(),
  }
}
