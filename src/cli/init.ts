import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { readConfig } from '../config/load.ts'
import { ConfigError, ExitCode, OperatingError, systemErrorCode } from '../lib/errors.ts'
import type { CommandDefinition } from './command.ts'

/** The commented example is what `init` writes: one text to keep correct. */
const exampleFile = new URL('../../config/catalogd.example.yaml', import.meta.url)
const target = 'config/catalogd.yaml'
/** Where a configuration is looked for: `init` does not put a second one beside it. */
const rivals = [target, 'catalogd.yaml']

export const initCommand: CommandDefinition = {
  usage: 'init [folder]',
  summary: 'write a commented configuration and its folders',
  details: `Writes ${target} and the drop folders that it names below the folder (default: the current one). Never overwrites a configuration.`,
  examples: ['catalogd init', 'catalogd init /srv/catalogd'],
  async run(context, { args: [folder = '.'] }) {
    const file = join(folder, target)
    for (const rival of rivals) await refuseExisting(join(folder, rival))
    const dropFolders = await writeAll(file)
    context.print({ config: file, dropFolders }, () => formatCreated(file, dropFolders))
    return ExitCode.done
  },
}

async function refuseExisting(file: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  )
  if (!exists) return
  throw new ConfigError('init-exists', `${file} exists already and is left as it is`, {
    hint: 'Edit it, or name another folder: catalogd init <folder>',
  })
}

async function writeAll(file: string): Promise<string[]> {
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, await readFile(exampleFile, 'utf8'), { flag: 'wx' })
    const { config } = await readConfig({ file, env: {} })
    const feeds = [...config.catalogs.values()].flatMap((catalog) => [...catalog.feeds.values()])
    const dropDirs = feeds.map(({ dropDir }) => dropDir).filter((dropDir) => dropDir !== '')
    for (const dropDir of dropDirs) await mkdir(dropDir, { recursive: true })
    return dropDirs
  } catch (error) {
    const code = systemErrorCode(error)
    if (error instanceof OperatingError || code === undefined) throw error
    throw new ConfigError('init-unwritable', `${file} and its folders cannot be written (${code})`, {
      hint: 'Choose a folder that you may write to',
      cause: error,
    })
  }
}

function formatCreated(file: string, dropFolders: readonly string[]): string {
  const created = [file, ...dropFolders].map(shorten)
  return `Created:
${created.map((path) => `  ${path}`).join('\n')}

Next:
  1. Edit ${shorten(file)}: which columns of your files are which product fields.
  2. Set CATALOG_API_URL and API_PRODUCTS_TOKEN. To try everything without an account, run "catalogd sandbox".
  3. catalogd config check
  4. catalogd start, and drop a file into ${created[1] ?? 'a drop folder'}`
}

/** Paths below the current folder as a person would type them. */
function shorten(path: string): string {
  const way = relative(process.cwd(), path)
  return way.startsWith('..') ? path : way
}
