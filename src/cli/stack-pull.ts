import type { Pulled } from '../operations/stack-files.ts'
import type { CommandDefinition } from './context.ts'
import { dirOption, withStack } from './stack-session.ts'
import { cell, countOf, formatTable } from './table.ts'

export const stackPullCommand: CommandDefinition<{ dir: string }> = {
  usage: 'pull',
  summary: 'write rules, moderation views, terms and users of the Stack into files',
  details:
    'Replaces the four files. They hold what can be written, ordered by name. users.yaml has e-mail addresses in it: keep it where those may be.',
  examples: ['catalogd stack pull', 'catalogd stack pull --dir ./stack-of-the-shop'],
  options: [dirOption],
  async run(context, { options: { dir } }) {
    const { pullStack } = await import('../operations/stack-files.ts')
    const pulled = await withStack(context, (client) => pullStack(client, { dir, signal: context.signal }))
    context.print(pulled, () => formatPulled(pulled))
  },
}

function formatPulled({ files, unnamed }: Pulled): string {
  const rows = files.map(({ file, items, changed }) => [file, items, changed ? 'written' : 'as before'])
  const left = unnamed.map(({ kind, id }) => `${kind} ${cell(id)}`).join(', ')
  const lines = [formatTable([['file', 'items', ''], ...rows])]
  if (unnamed.length > 0) {
    lines.push(`Left out: ${countOf(unnamed.length, 'item')} without a name (${cell(left, 300)}).`)
  }
  return lines.join('\n')
}
