import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { readConfig } from '../config/load.ts'
import type { CommandDefinition } from './context.ts'
import type { FromOptions } from './init-from.ts'
import { currencyOption, shopUrlOption } from './option-values.ts'
import { refuseExisting, throwUnwritable, writeEnvFile } from './refuse-existing.ts'

/** The commented example is what `init` writes: one text to keep correct. */
const exampleFile = new URL('../../config/catalogd.example.yaml', import.meta.url)
const target = 'config/catalogd.yaml'
/** Where a configuration is looked for: `init` does not put a second one beside it. */
const rivals = [target, 'catalogd.yaml']

export const initCommand: CommandDefinition<Partial<FromOptions>> = {
  usage: 'init [folder]',
  summary: 'write a configuration: a commented one, or one guessed from a feed file',
  details: `Writes ${target} and the drop folders that it names below the folder (default: the current one). With --from, looks at a feed file and writes what reads it (to the file behind --config or $CATALOGD_CONFIG). Never overwrites a configuration.`,
  examples: [
    'catalogd init',
    'catalogd init /srv/catalogd',
    'catalogd init --from export.csv --shop-url https://shop.example --currency EUR',
    'catalogd --config shop.yaml init --from feed.xml --yes',
  ],
  options: [
    {
      flags: '--from <file>',
      description: 'a feed file: guess the configuration of a feed "products" from it',
    },
    {
      flags: '--shop-url <url>',
      description: 'address of the shop, for exports that lack the address of a product',
      parse: shopUrlOption,
    },
    {
      flags: '--currency <code>',
      description: 'currency of the prices, for exports that lack it',
      parse: currencyOption,
    },
    { flags: '--id <rule>', description: 'column (or template, or rule in YAML) of the product id' },
    { flags: '--yes', description: 'take the guesses without asking', default: false },
  ],
  async run(context, { args: [folder = '.'], options }) {
    if (options.from !== undefined) {
      const { initFrom } = await import('./init-from.ts')
      await initFrom(context, { ...options, from: options.from, yes: options.yes === true })
      return
    }
    const file = join(folder, target)
    for (const rival of rivals)
      await refuseExisting(join(folder, rival), 'Edit it, or name another folder: catalogd init <folder>')
    const dropFolders = await writeAll(file)
    context.print({ config: file, dropFolders }, () => formatCreated(file, dropFolders))
  },
}

async function writeAll(file: string): Promise<string[]> {
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, await readFile(exampleFile, 'utf8'), { flag: 'wx' })
    await writeEnvFile(file)
    const { config } = await readConfig({ file, env: {} })
    const feeds = [...config.catalogs.values()].flatMap((catalog) => [...catalog.feeds.values()])
    const dropDirs = feeds.map(({ dropDir }) => dropDir).filter((dropDir) => dropDir !== '')
    for (const dropDir of dropDirs) await mkdir(dropDir, { recursive: true })
    return dropDirs
  } catch (error) {
    throwUnwritable(file, error)
  }
}

function formatCreated(file: string, dropFolders: readonly string[]): string {
  const env = join(dirname(file), '.env')
  const created = [file, ...dropFolders, env].map(shorten)
  return `Created:
${created.map((path) => `  ${path}`).join('\n')}

Next:
  1. Edit ${shorten(file)}: which columns of your files are which product fields.
     ("catalogd --config <new file> init --from <feed file>" guesses that from a file of yours.)
  2. Write CATALOG_API_URL and API_PRODUCTS_TOKEN into ${shorten(env)}. To try everything without an account, run "catalogd sandbox".
  3. catalogd config check
  4. catalogd start, and drop a file into ${created[1] ?? 'a drop folder'}

TAB completes commands and names of feeds after: source <(catalogd completion bash)   (or zsh; fish: see --help)`
}

/** Paths below the current folder as a person would type them. */
function shorten(path: string): string {
  const way = relative(process.cwd(), path)
  return way.startsWith('..') ? path : way
}
