import type { DeadConsent } from '../consents/reader.ts'
import { ConfigError, ExitCode } from '../lib/errors.ts'
import type { CommandContext, CommandDefinition } from './context.ts'
import { requireConsents } from './feeds.ts'
import { countOf, formatTable, formatTime } from './table.ts'
import { withCatalog, withDisk } from './with-catalog.ts'

interface KindOptions {
  consents?: boolean
}

interface SettleOptions extends KindOptions {
  all: boolean
}

const all = { flags: '--all', description: 'every dead letter', default: false }
const consents = {
  flags: '--consents',
  description: 'consents, by e-mail address or id, instead of products',
}

export const deadCommand: CommandDefinition = {
  usage: 'dead',
  summary: 'products and consents that the endpoint refused: list, show, retry, drop',
  details:
    'A newer document of the product revives a dead letter by itself. Among the consents are grants that were not confirmed in time.',
  examples: [
    'catalogd dead list',
    'catalogd dead show SKU-1',
    'catalogd dead retry --all',
    'catalogd dead drop SKU-1',
    'catalogd dead list --consents',
  ],
  commands: [
    listCommand(),
    showCommand(),
    settleCommand('retry', { summary: 'send them again', done: 'will be sent again' }),
    settleCommand('drop', { summary: 'give them up until a newer document comes', done: 'given up' }),
  ],
}

function listCommand(): CommandDefinition<KindOptions> {
  return {
    usage: 'list',
    summary: 'list them with the reasons, oldest first',
    examples: ['catalogd dead list', 'catalogd dead list --consents'],
    options: [consents],
    async run(context, { options }) {
      if (options.consents) return await listConsents(context)
      const { listDeadLetters } = await import('../operations/dead-letters.ts')
      const letters = await withDisk(context, listDeadLetters)
      const rows = letters.map(({ productId, status, at, reason }) => [
        productId,
        status ?? '',
        formatTime(at),
        reason.slice(0, 100),
      ])
      context.print(letters, () =>
        rows.length === 0
          ? 'No product was refused.'
          : formatTable([['product', 'status', 'at', 'reason'], ...rows]),
      )
    },
  }
}

async function listConsents(context: CommandContext): Promise<void> {
  requireConsents(await context.catalog())
  const { listDeadConsents } = await import('../operations/dead-letters.ts')
  const letters = await withDisk(context, listDeadConsents)
  const rows = letters.map((letter) => [
    letter.email ?? '(unknown)',
    String(letter.consent ?? ''),
    letter.id,
    letter.status ?? '',
    formatTime(letter.at),
    letter.reason.slice(0, 100),
  ])
  context.print(letters, () =>
    rows.length === 0
      ? 'No consent was refused.'
      : formatTable([['e-mail', 'consent', 'id', 'status', 'at', 'reason'], ...rows]),
  )
}

function showCommand(): CommandDefinition<KindOptions> {
  return {
    usage: 'show <id>',
    summary: 'show one with the document',
    examples: ['catalogd dead show SKU-1', 'catalogd dead show --consents anna@shop.example'],
    options: [consents],
    async run(context, { args: [id = ''], options }) {
      const letter = options.consents ? await showConsent(context, id) : await showProduct(context, id)
      context.print(letter, () => JSON.stringify(letter, undefined, 2))
    },
  }
}

async function showProduct(context: CommandContext, id: string): Promise<unknown> {
  const { showDeadLetter } = await import('../operations/dead-letters.ts')
  return await withDisk(context, (place) => showDeadLetter(place, id))
}

async function showConsent(context: CommandContext, given: string): Promise<DeadConsent> {
  requireConsents(await context.catalog())
  const { showDeadConsent } = await import('../operations/dead-letters.ts')
  return await withDisk(context, (place) => showDeadConsent(place, given))
}

function settleCommand(
  how: 'retry' | 'drop',
  { summary, done }: { summary: string; done: string },
): CommandDefinition<SettleOptions> {
  return {
    usage: `${how} [ids...]`,
    summary,
    examples: [`catalogd dead ${how} SKU-1`, `catalogd dead ${how} --all`],
    options: [all, consents],
    async run(context, { args, options }) {
      if (args.length === 0 && !options.all) {
        const names = options.consents ? 'e-mail addresses or ids' : 'product ids'
        throw new ConfigError('usage', `dead letters are named by their ${names}`, {
          hint: 'Give ids, or --all',
        })
      }
      const settle = options.consents ? settleConsents : settleProducts
      const { ids, notDead } = await settle(context, how, args)
      const what = options.consents ? 'consent' : 'product'
      context.print({ [how]: ids, notDead }, (shown) => {
        const lines = [`${countOf(ids.length, what)} ${done}.`]
        if (notDead.length > 0) lines.push(`No dead letter: ${shown.notDead.join(', ')}`)
        return lines.join('\n')
      })
      return notDead.length === 0 ? undefined : ExitCode.data
    },
  }
}

async function settleProducts(context: CommandContext, how: 'retry' | 'drop', args: readonly string[]) {
  const { settleDeadLetters } = await import('../operations/dead-letters.ts')
  const ids: string[] = await withCatalog(context, (operation) => settleDeadLetters(operation, how, args))
  return { ids, notDead: args.filter((id) => !ids.includes(id)) }
}

async function settleConsents(context: CommandContext, how: 'retry' | 'drop', args: readonly string[]) {
  requireConsents(await context.catalog())
  const { settleDeadConsents } = await import('../operations/dead-letters.ts')
  return await withCatalog(context, (operation) => settleDeadConsents(operation, how, args))
}
