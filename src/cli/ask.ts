import { createInterface } from 'node:readline/promises'
import type { CommandContext } from './context.ts'

/** What the person at the terminal types, trimmed; the question goes to standard error. Empty when the input ends. */
export async function ask(context: CommandContext, question: string): Promise<string> {
  context.note(question)
  const lines = createInterface({ input: context.input })
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
    return (await Promise.race([lines.question('', { signal: context.signal }), ended])).trim()
  } finally {
    lines.close()
  }
}
