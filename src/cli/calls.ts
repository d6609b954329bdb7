import { ConfigError } from '../lib/errors.ts'
import type { CallFilter } from '../operations/list-calls.ts'
import type { CommandDefinition } from './context.ts'
import { wholeNumberOption } from './option-values.ts'
import { formatCalls } from './story-format.ts'

interface CallsOptions {
  limit: number
  status?: string
  request?: string
  product?: string
}

export const callsCommand: CommandDefinition<CallsOptions> = {
  usage: 'calls [call]',
  summary: 'list the last calls with their answers, or show one with its products',
  details:
    'As many as history.calls keeps, those of hosts without the mirror, too. --status takes a number, none (no answer came) or failed.',
  examples: [
    'catalogd calls',
    'catalogd calls --status failed',
    'catalogd calls --product SKU-1',
    'catalogd calls 12',
  ],
  options: [
    {
      flags: '--limit <n>',
      description: 'the newest so many',
      default: 20,
      parse: wholeNumberOption({ min: 1, max: 1_000 }),
    },
    { flags: '--status <status>', description: 'only those that were answered so' },
    { flags: '--request <id>', description: 'only the one of this request id' },
    { flags: '--product <id>', description: 'only those that carried the product' },
  ],
  async run(context, { args: [number], options }) {
    const { findCall, listCalls } = await import('../operations/list-calls.ts')
    const { openMirror } = await import('../storage.ts')
    const { config } = await context.loadedConfig()
    using mirror = await openMirror(config, await context.catalog())
    const { columns } = context
    if (number !== undefined) {
      const call = findCall(mirror, Number(number))
      if (!call) {
        const hint = 'See catalogd calls; how many are kept says history.calls'
        throw new ConfigError('call-unknown', `there is no call ${number}, or it is no longer kept`, { hint })
      }
      context.print(call, (shown) => `${formatCalls([shown], columns)}\n${shown.ids.join('\n')}`)
      return
    }
    const page = listCalls(mirror, filterOf(options), {
      callsMax: options.limit,
      lookMax: Number.MAX_SAFE_INTEGER,
    })
    context.print(page.calls, (calls) =>
      calls.length === 0 ? 'No such call is kept.' : formatCalls(calls, columns),
    )
  },
}

function filterOf({ status, request, product }: CallsOptions): CallFilter {
  const isWord = status === 'none' || status === 'failed'
  if (status !== undefined && !isWord && !/^[1-5]\d\d$/.test(status)) {
    throw new ConfigError(
      'usage',
      `--status: found "${status}", expected a status such as 400, none or failed`,
    )
  }
  return {
    ...(status === undefined ? {} : { status: isWord ? status : Number(status) }),
    ...(request === undefined ? {} : { requestId: request }),
    ...(product === undefined ? {} : { productId: product }),
  }
}
