import { createInterface } from 'node:readline/promises'
import { ConfigError } from '../lib/errors.ts'
import type { CommandContext } from './context.ts'

export interface Question {
  /** On standard error, before the answer is waited for. */
  text: string
  /** `word`: only the whole word "yes" is one; for what cannot be taken back. */
  wants: 'y' | 'word'
}

/** Asks the person at the terminal. Throws a ConfigError (exit code 2) where nobody can be asked. */
async function confirm(context: CommandContext, { text, wants }: Question): Promise<boolean> {
  if (!context.canAsk) {
    throw new ConfigError(
      'not-confirmed',
      'nobody can be asked here: there is no terminal, or --json is given',
      {
        hint: 'Give --yes to do it without being asked',
      },
    )
  }
  const answer = (
    await ask(context, `${text} ${wants === 'y' ? '[y/N]' : 'Type yes to do it:'}`)
  ).toLowerCase()
  return answer === 'yes' || (wants === 'y' && answer === 'y')
}

/** `confirm`, unless `isSure`; says so where nothing is to be done. */
export async function isWanted(
  context: CommandContext,
  question: Question,
  isSure: boolean,
): Promise<boolean> {
  if (isSure || (await confirm(context, question))) return true
  context.note('Nothing was changed.')
  return false
}

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
