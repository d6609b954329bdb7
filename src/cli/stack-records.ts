import type { StackRecord } from '../stack/existing-items.ts'
import type { Fields, StackKind } from '../stack/model.ts'
import { isWanted } from './confirm.ts'
import type { CommandContext, CommandDefinition } from './context.ts'
import { type InputOptions, inputOptions, readInput } from './stack-input.ts'
import { listCommand } from './stack-list.ts'
import { withStack } from './stack-session.ts'
import { cell } from './table.ts'

interface Group {
  kind: StackKind
  word: string
  /** For `--help`. */
  example: string
}

const groups: readonly Group[] = [
  {
    kind: 'rules',
    word: 'rule',
    example: `--set name=Pans --set type=tile --set enabled=1 --set 'trigger={"$or":[{"tags":{"$eq":"pan"}}]}' --set 'action=[]'`,
  },
  { kind: 'views', word: 'moderation view', example: '--set view_name=Queue --set columns_tags_col=true' },
  {
    kind: 'terms',
    word: 'term',
    example: '--set name=pans --set type=hashtag --set network=instagram --set term=pans',
  },
  { kind: 'users', word: 'user', example: '' },
]

const applyCommand: CommandDefinition = {
  usage: 'apply <id>',
  summary: 'apply a rule to the tiles or assets that exist already',
  examples: ['catalogd stack rules apply 12'],
  async run(context, { args: [id = ''] }) {
    const { signal } = context
    const result = await withStack(context, (client) => client.rules.apply(id, { signal }))
    const { stringify } = await import('yaml')
    context.print(result ?? null, () => {
      const said = typeof result === 'object' && result !== null ? `\n${stringify(result)}` : ''
      return `Applied rule ${id}.${said}`
    })
  },
}

/** `stack rules`, `stack views`, `stack terms`, `stack users`: one record or all of a kind. */
export const stackRecordCommands: readonly CommandDefinition[] = groups.map((group) => {
  const { kind, word } = group
  const created = kind === 'users' ? [] : [createCommand(group)]
  const applied = kind === 'rules' ? [applyCommand] : []
  const verbs = [
    'list',
    'get',
    ...(created.length > 0 ? ['create'] : []),
    'update',
    'delete',
    ...(applied.length > 0 ? ['apply'] : []),
  ]
  return {
    usage: kind,
    summary: `${word}s of the Stack: ${verbs.join(', ')}`,
    ...(kind === 'users' ? { details: 'Users are invited, not created here.' } : {}),
    examples: [`catalogd stack ${kind} list`, `catalogd stack ${kind} get 12`],
    commands: [
      listCommand(kind, word),
      getCommand(group),
      ...created,
      updateCommand(group),
      deleteCommand(group),
      ...applied,
    ],
  }
})

function getCommand({ kind, word }: Group): CommandDefinition {
  return {
    usage: 'get <id>',
    summary: `show one ${word} with all its fields`,
    examples: [`catalogd stack ${kind} get 12`, `catalogd stack ${kind} get 12 --json`],
    async run(context, { args: [id = ''] }) {
      const { checkId } = await import('../operations/stack-records.ts')
      const { signal } = context
      const record = await withStack(context, (client) => client[kind].get(checkId(kind, id), { signal }))
      await printRecord(context, record)
    },
  }
}

function createCommand({ kind, word, example }: Group): CommandDefinition<InputOptions> {
  return {
    usage: 'create',
    summary: `create a ${word} and show it`,
    examples: [
      `catalogd stack ${kind} create ${example}`,
      `catalogd stack ${kind} create --file ${kind.slice(0, -1)}.yaml`,
    ],
    options: inputOptions,
    async run(context, { options }) {
      const fields = await readInput(context, options, { kind, action: 'create' })
      const { createRecord } = await import('../stack/client-service.ts')
      const record = await withStack(context, (client) =>
        createRecord(client, { kind, fields, signal: context.signal }),
      )
      await printRecord(context, record)
    },
  }
}

function updateCommand({ kind, word }: Group): CommandDefinition<InputOptions> {
  const field =
    kind === 'users' ? 'display_timezone=Europe/Berlin' : kind === 'views' ? 'sort_by=newest' : 'name=Pans'
  return {
    usage: 'update <id>',
    summary: `change fields of a ${word} and show it; the others stay as they are`,
    examples: [
      `catalogd stack ${kind} update 12 --set ${field}`,
      `catalogd stack ${kind} update 12 --file -`,
    ],
    options: inputOptions,
    async run(context, { args: [id = ''], options }) {
      const fields = await readInput(context, options, { kind, action: 'update' })
      const { checkId } = await import('../operations/stack-records.ts')
      const { signal } = context
      const record = await withStack(context, (client) =>
        client[kind].update(checkId(kind, id), fields, { signal }),
      )
      await printRecord(context, record)
    },
  }
}

function deleteCommand({ kind, word }: Group): CommandDefinition<{ yes: boolean }> {
  return {
    usage: 'delete <id>',
    summary: `delete a ${word}`,
    examples: [`catalogd stack ${kind} delete 12`, `catalogd stack ${kind} delete 12 --yes`],
    options: [{ flags: '--yes', description: 'do not ask', default: false }],
    async run(context, { args: [id = ''], options: { yes } }) {
      const { checkId, nameOfRecord } = await import('../operations/stack-records.ts')
      const { signal } = context
      await withStack(context, async (client) => {
        if (!yes) {
          const record = await client[kind].get(checkId(kind, id), { signal })
          const text = `Delete ${word} ${cell(record.id)}, ${cell(nameOfRecord(kind, record), 80)}?`
          if (!(await isWanted(context, { text, wants: 'y' }, false))) return
        }
        await client[kind].delete(checkId(kind, id), { signal })
        context.print({ deleted: id }, () => `Deleted ${word} ${cell(id)}.`)
      })
    },
  }
}

/** As YAML for people: nested values stay readable. */
async function printRecord(context: CommandContext, record: StackRecord | Fields): Promise<void> {
  const { stringify } = await import('yaml')
  context.printWhole(record, () => stringify(record, { lineWidth: 0, aliasDuplicateObjects: false }))
}
