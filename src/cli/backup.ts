import type { CommandDefinition } from './context.ts'
import { countOf } from './table.ts'

export const backupCommand: CommandDefinition = {
  usage: 'backup <folder>',
  summary: 'copy catalog, consents and manifest into a new folder, while the daemon runs or not',
  details:
    'Needs no Redis. The archive is not copied: back it up as files, and keep it (archive.keep) longer than the time between two backups.',
  examples: ['catalogd backup /backup/catalogd-$(date +%F)'],
  async run(context, { args: [folder = ''] }) {
    const { makeBackup } = await import('../operations/make-backup.ts')
    const { config } = await context.loadedConfig()
    const catalogs = await context.catalogs()
    const { clock } = context
    context.print(await makeBackup({ config, catalogs, clock }, folder), (made) => {
      const files = made.catalogs.flatMap((catalog) => catalog.files)
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      const names = made.catalogs.map(({ catalog }) => catalog).join(', ')
      return `Backed up ${names} to ${made.folder}: ${countOf(files.length, 'file')}, ${Math.ceil(bytes / 1e6)} MB.`
    })
  },
}
