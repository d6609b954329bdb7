import { Presets, SingleBar } from 'cli-progress'
import { safeLine } from '../lib/terminal-text.ts'

export interface ProgressBar extends Disposable {
  show(percent: number, text: string): void
}

/** A bar on standard error that moves in its line: the only thing besides the log that commands the terminal. */
export function openProgressBar(): ProgressBar {
  const bar = new SingleBar(
    { format: '{bar} {percentage} % | {text}', hideCursor: true },
    Presets.shades_classic,
  )
  bar.start(100, 0, { text: '' })
  return {
    show: (percent, text) => bar.update(percent, { text: safeLine(text) }),
    [Symbol.dispose]: () => bar.stop(),
  }
}
