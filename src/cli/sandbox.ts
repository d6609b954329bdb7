import { once } from 'node:events'
import { defaultStackName, defaultTokens, type SandboxTokens } from '../sandbox/credentials.ts'
import type { RequestRate } from '../sandbox/stack/stack-rate.ts'
import type { CommandDefinition } from './context.ts'
import { delayOption, rateOption, wholeNumberOption } from './option-values.ts'

interface SandboxOptions {
  port: number
  host: string
  productsToken: string
  emailToken: string
  intentToken: string
  stackToken: string
  stackName: string
  rate?: RequestRate
  latency: number
  strict: boolean
  strictAuth: boolean
  data?: string
}

export const sandboxCommand: CommandDefinition<SandboxOptions> = {
  usage: 'sandbox',
  summary: 'run a local server of the API, to try everything without an account',
  details:
    'Serves product upserts, consents, shopper intent and the content-aggregation API, and shows what arrived: /sandbox/summary, /sandbox/products/<id>, /sandbox/consents, /sandbox/calls, /sandbox/users, /sandbox/tiles and /sandbox/assets. The contract is at / to read and at /openapi.json. Faults are set at /sandbox/faults. Without --data everything is forgotten when it ends.',
  examples: [
    'catalogd sandbox',
    'catalogd sandbox --port 8490 --latency 50 --strict',
    'catalogd sandbox --data sandbox.ndjson --rate 450/2s',
  ],
  logLevel: 'info',
  options: [
    {
      flags: '--port <number>',
      description: '0: any free one',
      default: 8490,
      parse: wholeNumberOption({ min: 0, max: 65_535 }),
    },
    { flags: '--host <address>', description: 'address to listen on', default: '127.0.0.1' },
    tokenOption('products', 'product upserts'),
    tokenOption('email', 'consent calls'),
    tokenOption('intent', 'shopper intent'),
    tokenOption('stack', 'the content-aggregation API'),
    { flags: '--stack-name <name>', description: 'of the one Stack', default: defaultStackName },
    {
      flags: '--rate <requests/time>',
      description: 'of the content-aggregation API (default: 450/900s)',
      parse: rateOption,
    },
    { flags: '--latency <ms>', description: 'how long every answer takes', default: 0, parse: delayOption },
    { flags: '--strict', description: 'refuse what the contract does not have', default: false },
    { flags: '--data <file>', description: 'keep products, consents and the Stack in it' },
    { flags: '--strict-auth', description: 'want access_token and stack on all resources', default: false },
  ],
  async run(context, { options: { latency, data, ...options } }) {
    const { openSandbox } = await import('../sandbox/sandbox.ts')
    const { log: logger, clock } = context
    await using sandbox = await openSandbox({
      ...options,
      ...(data !== undefined && { dataFile: data }),
      latencyMs: latency,
      logger,
      clock,
    })
    const { url, tokens, stackName } = sandbox
    context.printLine(
      {
        url,
        productsToken: tokens.products,
        emailToken: tokens.email,
        intentToken: tokens.intent,
        stackToken: tokens.stack,
        stackName,
      },
      () => formatStarted(sandbox),
    )
    if (!context.signal.aborted) await once(context.signal, 'abort')
  },
}

function tokenOption(kind: keyof SandboxTokens, calls: string) {
  return {
    flags: `--${kind}-token <token>`,
    description: `token for ${calls}`,
    default: defaultTokens[kind],
  }
}

/** Names of the variables as the commented configuration has them. */
function formatStarted({
  url,
  tokens,
  stackName,
}: {
  url: string
  tokens: SandboxTokens
  stackName: string
}): string {
  return `The sandbox takes product upserts at ${url}/v1/products/upsert
and shows what arrived at ${url}/sandbox/summary. Consents, shopper intent and
the content-aggregation API are there too: see ${url}/ in a browser. It ends with Ctrl+C.

To send to it, in another terminal:
  export CATALOG_API_URL=${url} API_PRODUCTS_TOKEN=${tokens.products}
  export API_EMAIL_TOKEN=${tokens.email}
  export INTENT_URL=${url} API_LIM_TOKEN=${tokens.intent} INTENT_PARTNER_ID=sandbox
  export STACK_URL=${url} STACK_ACCESS_TOKEN=${tokens.stack} STACK_NAME=${stackName}
  catalogd start`
}
