import type { FastifyInstance, FastifyReply } from 'fastify'
import { callBytesMax } from '../lib/call-bytes.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { ConfigError, systemErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { hostNameOf, isAddressOrLocal, isFromElsewhere, isLocalName } from '../lib/page-origin.ts'
import { CallLog } from './call-log.ts'
import { consentPaths, registerConsent } from './consent/consent-routes.ts'
import { ConsentLog, ConsentStore } from './consent/consent-store.ts'
import { applyFaultsTo } from './control/fault-hooks.ts'
import { registerFaults } from './control/fault-routes.ts'
import { Faults } from './control/faults.ts'
import { registerInspection } from './control/inspection.ts'
import { defaultStackName, defaultTokens, type SandboxTokens } from './credentials.ts'
import { readDataFile } from './data/data-file.ts'
import { openDataKeeper } from './data/data-keeper.ts'
import { IntentAnswers } from './intent/intent-answer.ts'
import { ProductIndex } from './intent/intent-index.ts'
import { registerIntent } from './intent/intent-routes.ts'
import { OverlapWatch } from './overlaps.ts'
import { ProductStore } from './products/product-store.ts'
import { registerProductUpsert } from './products/product-upsert.ts'
import { registerReference } from './reference-routes.ts'
import { bytesOf, type ReceivedBody, receiveBytes } from './request-body.ts'
import { newServer, refuseOtherMethods } from './server.ts'
import { RateWindow, type RequestRate } from './stack/stack-rate.ts'
import { registerStack } from './stack/stack-routes.ts'
import { StackStore } from './stack/stack-store.ts'

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
  /** Keeps products, consents and the Stack in this file; default: they are forgotten. */
  dataFile?: string
  logger?: Log
  clock?: Clock
}

export interface Sandbox extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string
  readonly tokens: SandboxTokens
  readonly stackName: string
}

const hostDefault = '127.0.0.1'
const controlBytesMax = 1_000_000
const rateDefault: RequestRate = { requests: 450, perMs: 900_000 }

/** A server of the API to try everything without an account, which shows what arrived and misbehaves on request. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = hostDefault, port, logger, clock = systemClock, dataFile: path } = options
  const closing = new AbortController()
  const parts = await openParts(options, clock, closing.signal)
  const keeping = { clock, logger, isWritten: parts.wasKept }
  const keeper =
    path === undefined
      ? undefined
      : await openDataKeeper(parts, { path, ...keeping }).catch((error: unknown) => {
          closing.abort()
          throw error
        })
  const app = newServer(logger, closing.signal)
  registerGroups(app, parts)
  try {
    const url = await app.listen({ host, port })
    return {
      url,
      tokens: parts.tokens,
      stackName: parts.stackName,
      [Symbol.asyncDispose]: async () => {
        closing.abort()
        await app.close()
        await keeper?.[Symbol.asyncDispose]()
      },
    }
  } catch (cause) {
    closing.abort()
    await app.close()
    await keeper?.[Symbol.asyncDispose]()
    const isTaken = systemErrorCode(cause) === 'EADDRINUSE'
    throw new ConfigError('sandbox-listen', `the sandbox cannot listen on ${host}:${port}`, {
      hint: isTaken ? 'Another process uses the port; choose one with --port' : 'Check the host and the port',
      cause,
    })
  }
}

/** What the groups work with: each takes the parts that it knows. */
async function openParts(options: SandboxOptions, clock: Clock, closing: AbortSignal) {
  const store = new ProductStore()
  const consents = new ConsentStore()
  const { dataFile } = options
  const kept = dataFile === undefined ? undefined : await readDataFile(dataFile, { store, consents })
  const sleep = (delayMs: number) => clock.sleep(delayMs, closing)
  const index = new ProductIndex(store, { monotonic: () => clock.monotonic(), sleep })
  return {
    store,
    intent: new IntentAnswers(store, index),
    calls: new CallLog(),
    overlaps: new OverlapWatch(),
    consents,
    consentCalls: new ConsentLog(),
    consentOverlaps: new OverlapWatch(),
    stack: new StackStore(kept),
    wasKept: kept !== undefined,
    faults: new Faults(),
    tokens: tokensOf(options),
    stackName: options.stackName ?? defaultStackName,
    rate: new RateWindow(options.rate ?? rateDefault),
    callBytesMax: options.callBytesMax ?? callBytesMax,
    latencyMs: options.latencyMs ?? 0,
    strict: options.strict ?? false,
    strictAuth: options.strictAuth ?? false,
    now: preciseTime(clock),
    sleep,
    listensOn: options.host ?? hostDefault,
    logger: options.logger,
  }
}

type Parts = Awaited<ReturnType<typeof openParts>>

function registerGroups(app: FastifyInstance, parts: Parts): void {
  app.register(registerReference)
  app.register((scope) => registerProductUpsert(scope, parts))
  app.register((scope) => registerConsent(scope, parts))
  app.register((scope) => registerIntent(scope, parts))
  app.register(async (scope) => {
    applyFaultsTo(scope, {
      ...parts,
      group: 'stack',
      // The group waits by itself.
      latencyMs: 0,
      subjectOf: ({ body }) => ({ bytes: bytesOf(body as ReceivedBody | undefined), ids: [] }),
      refuse: (reply, { reason: message }) =>
        reply.code(400).send({ data: [], errors: [{ message, code: 400 }] }),
    })
    await registerStack(scope, { ...parts, store: parts.stack })
  })
  app.register(async (scope) => {
    receiveBytes(scope, controlBytesMax)
    for (const url of ['/v1/products/upsert', '/api', ...consentPaths.map((path) => `${path}/*`)]) {
      const refuse = (reply: FastifyReply, message: string) =>
        reply.send({ type: 'method_not_allowed', message })
      refuseOtherMethods(scope, { url, taken: ['POST'], refuse })
    }
  })
  app.register(async (scope) => {
    refuseOtherOrigins(scope, parts)
    receiveBytes(scope, controlBytesMax)
    await registerInspection(scope, parts)
    await registerFaults(scope, parts)
  })
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

/**
 * The control routes need no credentials, so a web page from elsewhere must not use them through the browser of whoever
 * runs the sandbox. Browsers name the page's origin; other clients send no such header. A page may also give its own name
 * the address of this machine, so that all looks like one origin: a sandbox that serves this machine only is asked by an
 * address, or as localhost.
 */
function refuseOtherOrigins(scope: FastifyInstance, { listensOn }: { listensOn: string }): void {
  const servesThisMachineOnly = isLocalName(listensOn) || listensOn === '::1' || listensOn.startsWith('127.')
  scope.addHook('onRequest', async (request, reply) => {
    const { headers } = request
    const isKnown = !headers.host || isAddressOrLocal(hostNameOf(headers.host))
    if (!isFromElsewhere(headers) && (isKnown || !servesThisMachineOnly)) return
    return reply.code(403).send({ message: 'web pages from elsewhere must not use the control routes' })
  })
}
