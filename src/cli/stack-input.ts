import { readFile } from 'node:fs/promises'
import { ConfigError, systemErrorCode } from '../lib/errors.ts'
import type { Fields, StackKind } from '../stack/model.ts'
import { parseInput } from '../stack/parse-input.ts'
import type { CommandContext, OptionDefinition } from './context.ts'

export interface InputOptions {
  set: readonly string[]
  file?: string
}

export const inputOptions: readonly OptionDefinition[] = [
  {
    flags: '--set <field=value>',
    description: 'a field; may be repeated. Lists come comma-separated or as JSON, an empty value empties',
    default: [],
    parse: (text, before) => [...(before as readonly string[]), text],
  },
  { flags: '--file <file>', description: 'YAML or JSON with fields; - reads standard input' },
]

const inputBytesMax = 16_000_000

/** The fields that options and file give, as they are sent. */
export async function readInput(
  context: CommandContext,
  { set, file }: InputOptions,
  what: { kind: StackKind; action: 'create' | 'update' },
): Promise<Fields> {
  const source = file === undefined ? undefined : await readSource(context, file)
  return parseInput({ ...what, source, assignments: set })
}

async function readSource(context: CommandContext, file: string) {
  if (file === '-') return { file: 'standard input', text: await readAll(context) }
  try {
    return { file, text: await readFile(file, 'utf8') }
  } catch (cause) {
    const code = systemErrorCode(cause)
    if (code === undefined) throw cause
    throw new ConfigError('input-file', `--file: ${file} cannot be read (${code})`, {
      hint: 'Name a file that is there, or - for standard input',
      cause,
    })
  }
}

async function readAll({ input, signal }: CommandContext): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input) {
    signal.throwIfAborted()
    const read = Buffer.from(chunk)
    bytes += read.length
    if (bytes > inputBytesMax) {
      throw new ConfigError('input-file', `standard input has more than ${inputBytesMax} bytes`)
    }
    chunks.push(read)
  }
  return Buffer.concat(chunks).toString('utf8')
}
