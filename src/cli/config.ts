import { access, constants } from 'node:fs/promises'
import { productFields } from '../api/contract/product.ts'
import { configJsonSchema, configJsonSchemaText } from '../config/json-schema.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { CatalogConfig, Deferred, FeedConfig } from '../config/model.ts'
import { describeConfig, printConfig } from '../config/print.ts'
import { ConfigProblemsError } from '../config/problems.ts'
import { ConfigError, ExitCode, systemErrorCode } from '../lib/errors.ts'
import { accessOfPull, describePull, listOverlaps } from '../operations/read-config.ts'
import type { CommandContext, CommandDefinition } from './context.ts'
import { countOf, formatTable } from './table.ts'

/** `--json` prints it; documented in docs/commands.md. */
interface Report {
  file: string
  valid: true
  catalogs: CatalogReport[]
  /** Correct, but not as complete as `start` needs it, or without effect. */
  notes: string[]
}

interface CatalogReport {
  name: string
  feeds: {
    name: string
    kind: FeedConfig['kind']
    /** Null: the feed watches no folder. */
    drop: string | null
    /** Where and when its files are fetched; null: nowhere. */
    pull: string | null
    files: FeedConfig['files']
  }[]
  /** Fields that several feeds map; the value of the first one counts. */
  overlaps: { field: string; feeds: string[]; owned: boolean }[]
}

const configCheckCommand: CommandDefinition = {
  usage: 'check',
  summary: 'check the configuration and show which feed writes which field',
  details: 'Reports all problems at once, each with file, line and column. Touches nothing.',
  examples: ['catalogd config check', 'catalogd config check --config shop.yaml --json'],
  needsConfigFile: true,
  async run(context) {
    try {
      const report = await inspect(await context.loadedConfig(), context.configFile)
      context.print(report, formatReport)
      return ExitCode.done
    } catch (error) {
      // With --json the problems are the result, not a failure of the command.
      if (!(error instanceof ConfigProblemsError) || !context.json) throw error
      printProblems(context, error)
      return ExitCode.usage
    }
  },
}

function printProblems(context: CommandContext, { problems, message }: ConfigProblemsError): void {
  context.print({ file: context.configFile, valid: false, problems }, () => message)
}

async function inspect({ config, warnings }: LoadedConfig, file: string): Promise<Report> {
  const catalogs = [...config.catalogs.values()]
  const notes = [
    ...warnings,
    ...catalogs.flatMap(({ api, feeds, consents }) => [
      ...noteMissing(api.url),
      ...([...feeds.values()].some(({ kind }) => kind === 'products') ? noteMissing(api.productsToken) : []),
      ...(consents.feeds.size > 0 ? noteMissing(api.emailToken) : []),
      ...[...feeds.values()]
        .flatMap(({ pull }) => (pull ? accessOfPull(pull) : []))
        .flatMap((value) => noteMissing(value, 'fetching needs it')),
    ]),
    ...(await Promise.all(catalogs.map(noteFolders))).flat(),
    ...(config.console?.token ? noteMissing(config.console.token, 'the console needs it') : []),
    ...(config.alerts?.url ? noteMissing(config.alerts.url, 'alerts need it') : []),
  ]
  return { file, valid: true, catalogs: catalogs.map(describeCatalog), notes }
}

function describeCatalog({ name, feeds }: CatalogConfig): CatalogReport {
  const overlaps = listOverlaps(feeds)
  return {
    name,
    feeds: [...feeds.values()].map(({ name: feed, kind, dropDir, pull, files }) => {
      return { name: feed, kind, drop: dropDir || null, pull: pull ? describePull(pull) : null, files }
    }),
    overlaps: overlaps.map(({ field, feeds: ranked, isOwned }) => ({
      field,
      feeds: [...ranked],
      owned: isOwned,
    })),
  }
}

function noteMissing(deferred: Deferred<unknown>, why = 'deliveries need it'): string[] {
  try {
    deferred.value()
    return []
  } catch (error) {
    if (error instanceof ConfigError) return [`${error.message}: ${why}`]
    throw error
  }
}

async function noteFolders({ name, feeds }: CatalogConfig): Promise<string[]> {
  const notes = [...feeds.values()].map(async (feed) => {
    if (feed.dropDir === '') return []
    const reason = await unusable(feed.dropDir)
    return reason === undefined ? [] : [`catalogs.${name}.feeds.${feed.name}.drop: ${feed.dropDir} ${reason}`]
  })
  return (await Promise.all(notes)).flat()
}

/** Accepted files are renamed out of the folder, which takes the right to write. */
async function unusable(folder: string): Promise<string | undefined> {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    const code = systemErrorCode(error)
    return code === 'ENOENT' ? 'does not exist' : `cannot be read and written (${code})`
  }
}

function formatReport({ file, catalogs, notes }: Report): string {
  const feeds = catalogs.reduce((sum, catalog) => sum + catalog.feeds.length, 0)
  const counts = `${countOf(catalogs.length, 'catalog')}, ${countOf(feeds, 'feed')}`
  const parts = [`${file} is correct: ${counts}.`, ...catalogs.map(formatCatalog)]
  if (notes.length > 0) parts.push(`Notes:\n${notes.map((note) => `- ${note}`).join('\n')}`)
  return parts.join('\n\n')
}

function formatCatalog({ name, feeds, overlaps }: CatalogReport): string {
  const rows = feeds.flatMap((feed) =>
    feed.files.map(({ mode, pattern }) => [
      feed.kind === 'consents' ? `${feed.name} (consents)` : feed.name,
      mode,
      pattern,
      [feed.drop, feed.pull].filter((place) => place !== null).join('; '),
    ]),
  )
  const from = feeds.some(({ pull }) => pull !== null) ? 'drop folder or source' : 'drop folder'
  const table = formatTable([['feed', 'mode', 'files', from], ...rows], '  ')
  if (overlaps.length === 0) return `${name}\n${table}`
  const fields = overlaps.map((overlap) => [overlap.field, formatWriters(overlap)])
  return `${name}\n${table}\n\n  Fields that several feeds write; the first feed's value counts:\n${formatTable(fields, '  ')}`
}

function formatWriters({ feeds: [writer, ...others], owned }: CatalogReport['overlaps'][number]): string {
  return `${writer}${owned ? ' (owns it)' : ''}, then ${others.join(', ')}`
}

const configSchemaCommand: CommandDefinition = {
  usage: 'schema',
  summary: 'print the JSON Schema of the configuration',
  details:
    'Editors with a YAML language server complete and check the configuration when its first line is\n# yaml-language-server: $schema=catalogd.schema.json',
  examples: ['catalogd config schema > config/catalogd.schema.json'],
  async run(context) {
    context.printWhole(configJsonSchema(productFields), () => configJsonSchemaText(productFields))
  },
}

const configPrintCommand: CommandDefinition = {
  usage: 'print',
  summary: 'print the configuration as it counts, with secrets masked',
  details: 'The environment and all defaults are filled in, and paths are absolute.',
  examples: ['catalogd config print', 'catalogd config print --json | jq .catalogs.main.delivery'],
  async run(context) {
    const loaded = await context.loadedConfig()
    context.printWhole(describeConfig(loaded), () => printConfig(loaded))
  },
}

export const configCommand: CommandDefinition = {
  usage: 'config',
  summary: 'check or print the configuration',
  examples: ['catalogd config check'],
  commands: [configCheckCommand, configPrintCommand, configSchemaCommand],
}
