import { expect } from 'vitest'
import { runCli } from '../cli/support.ts'

export interface ConsoleOptions {
  /** Stands where pages say `..`, the folder that holds the checkout. */
  parent: string
  env: Record<string, string>
}

/** Runs the commands of a console block, and compares what each prints with what stands below it; `…` stands for any lines. */
export async function expectConsole(block: string, { parent, env }: ConsoleOptions): Promise<void> {
  for (const part of block.split(/^\$ catalogd /m).slice(1)) {
    const [command = '', ...lines] = part.split('\n')
    const words = command.matchAll(/"([^"]*)"|(\S+)/g)
    const argv = [...words].map(([, quoted, word = '']) => quoted ?? word.replace(/^\.\.\//, `${parent}/`))
    const { stdout, stderr } = await runCli(argv, { env })
    const printed = stdout.replaceAll(`${parent}/`, '../')
    const pieces = lines.join('\n').split(/^…\n?/m)
    // One piece: all of it, so that a difference is shown line by line.
    if (pieces.length === 1) expect(printed, stderr).toBe(pieces[0])
    else expectInOrder(printed, pieces)
  }
}

/** The first piece begins the text, the last one ends it. */
function expectInOrder(printed: string, pieces: readonly string[]): void {
  let rest = printed
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1
    const at = isLast && piece !== '' ? rest.length - piece.length : rest.indexOf(piece)
    const follows = rest.slice(at).startsWith(piece) && (index > 0 || at === 0)
    expect(at >= 0 && follows ? piece : rest).toBe(piece)
    rest = rest.slice(at + piece.length)
  }
}
