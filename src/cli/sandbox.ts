import { once } from 'node:events'
import { ExitCode } from '../lib/errors.ts'
import type { CommandDefinition } from './command.ts'
import { delayOption, wholeNumberOption } from './option-values.ts'

interface SandboxOptions {
  port: number
  host: string
  productsToken: string
  latency: number
  strict: boolean
}

export const sandboxCommand: CommandDefinition<SandboxOptions> = {
  usage: 'sandbox',
  summary: 'run a local server of the API, to try everything without an account',
  details:
    'Takes product upserts as the service does and shows what arrived: /sandbox/summary, /sandbox/products/<id> and /sandbox/calls. Faults are set at /sandbox/faults. Forgets everything when it ends.',
  examples: ['catalogd sandbox', 'catalogd sandbox --port 8490 --latency 50 --strict'],
  logLevel: 'info',
  options: [
    {
      flags: '--port <number>',
      description: '0: any free one',
      default: 8490,
      parse: wholeNumberOption({ min: 0, max: 65_535 }),
    },
    { flags: '--host <address>', description: 'address to listen on', default: '127.0.0.1' },
    { flags: '--products-token <token>', description: 'token that is accepted', default: 'sandbox-token' },
    { flags: '--latency <ms>', description: 'how long every answer takes', default: 0, parse: delayOption },
    { flags: '--strict', description: 'refuse what the contract does not have', default: false },
  ],
  async run(context, { options: { port, host, productsToken, latency, strict } }) {
    const { openSandbox } = await import('../sandbox/sandbox.ts')
    const { log: logger, clock } = context
    await using sandbox = await openSandbox({
      port,
      host,
      productsToken,
      latencyMs: latency,
      strict,
      logger,
      clock,
    })
    context.printLine({ url: sandbox.url, productsToken }, () => formatStarted(sandbox.url, productsToken))
    if (!context.signal.aborted) await once(context.signal, 'abort')
    return ExitCode.done
  },
}

function formatStarted(url: string, productsToken: string): string {
  return `The sandbox takes product upserts at ${url}/v1/products/upsert
and shows what arrived at ${url}/sandbox/summary. It ends with Ctrl+C.

To send to it, in another terminal:
  export CATALOG_API_URL=${url} API_PRODUCTS_TOKEN=${productsToken}
  catalogd start`
}
