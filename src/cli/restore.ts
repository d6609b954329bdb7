import type { StagedRestore } from '../operations/restore-backup.ts'
import { isWanted } from './confirm.ts'
import type { CommandDefinition } from './context.ts'
import { countOf } from './table.ts'

export const restoreCommand: CommandDefinition<{ yes: boolean; skipMissingFiles: boolean }> = {
  usage: 'restore [folder]',
  summary: 'put a backup back; what was accepted since is imported again from the archive',
  details:
    'No daemon may run. Says first what would happen. The next start sends every product once, as soon as no earlier call can take effect any more. Without a folder everything that the archive holds is imported again.',
  examples: ['catalogd restore /backup/catalogd-2026-11-22', 'catalogd restore'],
  options: [
    { flags: '--yes', description: 'do not ask', default: false },
    {
      flags: '--skip-missing-files',
      description: 'pass over accepted files that are needed and gone from the archive',
      default: false,
    },
  ],
  needsConfigFile: true,
  async run(context, { args: [folder], options }) {
    const { discardRestore, finishRestore, requireFiles, stageRestore } = await import(
      '../operations/restore-backup.ts'
    )
    const { withoutDaemon } = await import('../operations/run-here.ts')
    const { config } = await context.loadedConfig()
    const catalogs = await context.catalogs()
    const { clock } = context
    await withoutDaemon({ config, clock }, async () => {
      const staged = await stageRestore({ config, catalogs }, folder)
      try {
        if (!options.skipMissingFiles) staged.forEach(requireFiles)
        const results = staged.map(resultOf)
        if (!context.json) context.print(results, (shown) => shown.map(formatResult).join('\n'))
        const question = { text: 'Replace what is there?', wants: 'word' } as const
        if (!(await isWanted(context, question, options.yes))) return
        for (const one of staged) await finishRestore(one, clock)
        context.print(results, () => 'Done: start catalogd.')
      } finally {
        await discardRestore(staged)
      }
    })
  },
}

function resultOf({ catalog, at, products, again, gone }: StagedRestore) {
  return { catalog, at: at ?? null, products, filesAgain: again.length, filesMissing: gone.length }
}

function formatResult({ catalog, at, products, filesAgain, filesMissing }: ReturnType<typeof resultOf>) {
  const what = at === null ? 'begins empty' : `goes back to ${at} with ${countOf(products, 'product')}`
  const skipped = filesMissing === 0 ? '' : `; ${countOf(filesMissing, 'file')} of them no longer there`
  return `${catalog} ${what}; ${countOf(filesAgain, 'file')} of the archive to be imported again${skipped}. Every product is sent once.`
}
