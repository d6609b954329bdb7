import { readCommands } from '../../src/cli/commands.ts'
import type { CommandDefinition, OptionDefinition } from '../../src/cli/context.ts'

interface Described {
  /** Without `catalogd`; `stack rules|views list` where several differ in that word only. */
  usage: string
  definition: CommandDefinition
  options: readonly { option: OptionDefinition; of: readonly string[] }[]
  /** How many commands stand behind the usage. */
  merged: readonly string[]
}

/** Every command that does something, under the headings of `--help`; paragraphs about `--json` stay as they are. */
export async function describeCommands(present: string): Promise<string> {
  const kept = notesOf(present)
  const groups = Map.groupBy(await readCommands([]), ({ heading = 'Commands' }) => heading)
  const parts = [...groups].map(([heading, definitions]) => {
    const commands = mergeKinds(definitions.flatMap((definition) => listLeaves(definition, [])))
    return `## ${heading}\n\n${commands.map((command) => describeCommand(command, kept)).join('\n')}`
  })
  return `\n${parts.join('\n')}\n`
}

function describeCommand(command: Described, kept: ReadonlyMap<string, string>): string {
  const { usage, definition } = command
  const { summary, details, examples } = definition
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
  const parts = [
    `### \`catalogd ${usage}\``,
    details === undefined ? sentence : `${sentence} ${details.replaceAll('\n', ' ').replaceAll('<', '\\<')}`,
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
    ...describeOptions(command),
    ...(kept.has(usage) ? [kept.get(usage)] : []),
  ]
  return `${parts.join('\n\n')}\n`
}

function describeOptions({ options, merged }: Described): string[] {
  if (options.length === 0) return []
  const rows = options.map(({ option: { flags, description, default: preset, choices }, of }) => {
    const shown =
      preset === undefined || preset === false || preset === '' || Array.isArray(preset)
        ? ''
        : `\`${preset}\``
    const only = of.length === merged.length ? '' : `; only of ${of.join(', ')}`
    const values = choices ? `: ${choices.map((value) => `\`${value}\``).join(', ')}` : ''
    return `| \`${flags}\` | ${shown} | ${description.replaceAll('|', '\\|')}${values}${only} |`
  })
  return [`| option | default | meaning |\n|---|---|---|\n${rows.join('\n')}`]
}

/** By usage: what follows `--json` or "See", which no definition holds. */
function notesOf(present: string): Map<string, string> {
  return new Map(
    present.split(/^(?=##)/m).flatMap((section) => {
      const [, usage] = /^### `catalogd ([^`]+)`/.exec(section) ?? []
      const at = section.search(/^(`--json`|See )/m)
      return usage === undefined || at < 0 ? [] : [[usage, section.slice(at).trim()]]
    }),
  )
}

function listLeaves(definition: CommandDefinition, parents: readonly string[]): Described[] {
  const usage = [...parents, definition.usage].join(' ')
  const own = definition.run
    ? [
        {
          usage,
          definition,
          options: (definition.options ?? []).map((option) => ({ option, of: [usage] })),
          merged: [usage],
        },
      ]
    : []
  const name = definition.usage.split(' ')[0] ?? ''
  const below = (definition.commands ?? []).flatMap((child) => listLeaves(child, [...parents, name]))
  return [...own, ...below]
}

/** `stack rules list`, `stack views list` … are one command about several kinds of things. */
function mergeKinds(commands: readonly Described[]): Described[] {
  const groups = Map.groupBy(commands, ({ usage }) => usage.replace(/^(stack) \w+ (?=\w)/, '$1 … '))
  return [...groups.values()].map((group) => {
    const [first] = group
    if (first === undefined || group.length === 1) return group[0] as Described
    const kinds = group.map(({ usage }) => usage.split(' ')[1] ?? '')
    const options = Map.groupBy(
      group.flatMap(({ options: ofOne }, index) =>
        ofOne.map(({ option }) => ({ option, kind: kinds[index] ?? '' })),
      ),
      ({ option }) => option.flags,
    )
    const [root = '', , ...rest] = first.usage.split(' ')
    return {
      usage: [root, kinds.join('|'), ...rest].join(' '),
      definition: {
        ...first.definition,
        summary: first.definition.summary.replace(/\brule/, 'record'),
        examples: differentExamples(group, kinds),
      },
      options: [...options.values()].map((same) => ({
        option: same[0]?.option as OptionDefinition,
        of: same.map(({ kind }) => kind),
      })),
      merged: kinds,
    }
  })
}

/** Without those that differ in the kind alone. */
function differentExamples(group: readonly Described[], kinds: readonly string[]): string[] {
  const examples = group.flatMap(({ definition }, index) =>
    definition.examples.map((example) => ({ example, form: example.replace(kinds[index] ?? '', '') })),
  )
  const byForm = new Map(examples.toReversed().map(({ example, form }) => [form, example]))
  return [...byForm.values()].toReversed()
}
