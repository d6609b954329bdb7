import { type Clock, systemClock } from '../lib/clock.ts'
import { ConfigError, systemErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { CallLog } from './call-log.ts'
import { ConsentLog } from './consent-log.ts'
import { registerConsent } from './consent-routes.ts'
import { ConsentStore } from './consent-store.ts'
import { refuseOtherOrigins } from './control-origin.ts'
import { defaultStackName, defaultTokens, type SandboxTokens } from './credentials.ts'
import { registerFaults } from './fault-routes.ts'
import { Faults } from './faults.ts'
import { registerInspection } from './inspection.ts'
import { OverlapWatch } from './overlaps.ts'
import { ProductStore } from './product-store.ts'
import { registerProductUpsert } from './product-upsert.ts'
import { receiveBytes } from './request-body.ts'
import { newServer } from './server.ts'
import type { RequestRate } from './stack-rate.ts'
import { registerStack } from './stack-routes.ts'
import { StackStore } from './stack-store.ts'

export interface SandboxOptions {
  /** Default: 127.0.0.1. The control routes need no credentials, so anything else is open to the network. */
  host?: string
  /** 0: any free port. */
  port: number
  productsToken: string
  /** The other tokens, and the name of the Stack, have defaults that anybody may know. */
  emailToken?: string
  intentToken?: string
  stackToken?: string
  stackName?: string
  /** Of the content-aggregation API; default: 450 requests in 900 s. */
  rate?: RequestRate
  /** How long every answer takes. */
  latencyMs?: number
  /** Refuses what the contract does not have, too. */
  strict?: boolean
  /** Wants the Stack's credentials on all of its resources, not only where the contract shows them. */
  strictAuth?: boolean
  /** Bodies of upserts above it are answered 413. */
  callBytesMax?: number
  logger?: Log
  clock?: Clock
}

export interface Sandbox extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string
  readonly tokens: SandboxTokens
  readonly stackName: string
}

const controlBytesMax = 1_000_000
const bytesPerCallMax = 2_000_000
const rateDefault: RequestRate = { requests: 450, perMs: 900_000 }

/** A server of the API to try everything without an account, which shows what arrived and misbehaves on request. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1', port, logger, clock = systemClock, latencyMs = 0, strict = false } = options
  const closing = new AbortController()
  const tokens = tokensOf(options)
  const stackName = options.stackName ?? defaultStackName
  const parts = {
    store: new ProductStore(),
    calls: new CallLog(),
    overlaps: new OverlapWatch(),
    consents: new ConsentStore(),
    consentCalls: new ConsentLog(),
    consentOverlaps: new OverlapWatch(),
    faults: new Faults(),
    stack: new StackStore(),
    tokens,
    latencyMs,
    strict,
    now: preciseTime(clock),
    sleep: (delayMs: number) => clock.sleep(delayMs, closing.signal),
    logger,
  }
  const app = newServer(logger, closing.signal)
  app.register((scope) =>
    registerProductUpsert(scope, { ...parts, callBytesMax: options.callBytesMax ?? bytesPerCallMax }),
  )
  app.register((scope) => registerConsent(scope, parts))
  app.register((scope) =>
    registerStack(scope, {
      ...parts,
      store: parts.stack,
      stackName,
      strictAuth: options.strictAuth ?? false,
      rate: options.rate ?? rateDefault,
    }),
  )
  app.register(async (scope) => {
    refuseOtherOrigins(scope)
    receiveBytes(scope, controlBytesMax)
    await registerInspection(scope, parts)
    await registerFaults(scope, parts)
  })

  try {
    const url = await app.listen({ host, port })
    return {
      url,
      tokens,
      stackName,
      [Symbol.asyncDispose]: async () => {
        closing.abort()
        await app.close()
      },
    }
  } catch (cause) {
    await app.close()
    const isTaken = systemErrorCode(cause) === 'EADDRINUSE'
    throw new ConfigError('sandbox-listen', `the sandbox cannot listen on ${host}:${port}`, {
      hint: isTaken ? 'Another process uses the port; choose one with --port' : 'Check the host and the port',
      cause,
    })
  }
}

function tokensOf({ productsToken, emailToken, intentToken, stackToken }: SandboxOptions): SandboxTokens {
  return {
    products: productsToken,
    email: emailToken ?? defaultTokens.email,
    intent: intentToken ?? defaultTokens.intent,
    stack: stackToken ?? defaultTokens.stack,
  }
}

/**
 * Wall-clock time with fractions of a millisecond. Follows the wall clock when that is set or drifts away from the
 * monotonic one, whose origin is arbitrary.
 */
function preciseTime(clock: Clock): () => number {
  const driftMaxMs = 2
  let offsetMs = clock.now() - clock.monotonic()
  return () => {
    const monotonicMs = clock.monotonic()
    const wallMs = clock.now()
    if (Math.abs(offsetMs + monotonicMs - wallMs) > driftMaxMs) offsetMs = wallMs - monotonicMs
    return offsetMs + monotonicMs
  }
}
