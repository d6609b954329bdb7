import { randomUUID } from 'node:crypto'
import { type FastifyInstance, fastify } from 'fastify'
import { type Clock, systemClock } from '../lib/clock.ts'
import { ConfigError, systemErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { CallLog } from './call-log.ts'
import { registerFaults } from './fault-routes.ts'
import { Faults } from './faults.ts'
import { registerInspection } from './inspection.ts'
import { OverlapWatch } from './overlaps.ts'
import { ProductStore } from './product-store.ts'
import { registerProductUpsert } from './product-upsert.ts'
import { receiveBytes } from './request-body.ts'

export interface SandboxOptions {
  /** Default: 127.0.0.1. The control routes need no credentials, so anything else is open to the network. */
  host?: string
  /** 0: any free port. */
  port: number
  productsToken: string
  /** How long every answer takes. */
  latencyMs?: number
  /** Refuses what the contract does not have, too. */
  strict?: boolean
  /** Bodies above it are answered 413. */
  callBytesMax?: number
  logger?: Log
  clock?: Clock
}

export interface Sandbox extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string
}

const controlBytesMax = 1_000_000
/** Product ids stand in paths, and the contract gives them no length. */
const pathParameterCharactersMax = 10_000

/** A server of the API to try everything without an account, which shows what arrived and misbehaves on request. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1', port, logger, clock = systemClock } = options
  const closing = new AbortController()
  const parts = {
    store: new ProductStore(),
    calls: new CallLog(),
    overlaps: new OverlapWatch(),
    faults: new Faults(),
  }
  const app = newServer(logger, closing.signal)
  app.register((scope) =>
    registerProductUpsert(scope, {
      ...parts,
      productsToken: options.productsToken,
      callBytesMax: options.callBytesMax ?? 2_000_000,
      latencyMs: options.latencyMs ?? 0,
      strict: options.strict ?? false,
      now: preciseTime(clock),
      sleep: (delayMs) => clock.sleep(delayMs, closing.signal),
      logger,
    }),
  )
  app.register(async (scope) => {
    receiveBytes(scope, controlBytesMax)
    await registerInspection(scope, parts)
    await registerFaults(scope, parts)
  })

  try {
    const url = await app.listen({ host, port })
    return {
      url,
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

function newServer(logger: Log | undefined, closing: AbortSignal): FastifyInstance {
  const app = fastify({
    genReqId: () => randomUUID(),
    // Answers of other people's clients must not depend on what our clients send.
    requestIdHeader: false,
    // A hanging answer must not keep the sandbox from closing.
    forceCloseConnections: true,
    requestTimeout: 120_000,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: pathParameterCharactersMax },
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.setNotFoundHandler(async (request, reply) =>
    reply
      .code(404)
      .send({ message: `the sandbox has no ${request.method} ${request.url.split('?', 1)[0] ?? ''}` }),
  )
  app.setErrorHandler(async (error, request, reply) => {
    if (closing.aborted) {
      // A wait was cut short: a server that goes away answers nothing.
      request.raw.socket.destroy()
      return reply.hijack()
    }
    logger?.error({ err: error, request: request.id }, 'the sandbox failed to answer')
    return reply.code(500).send({ message: 'the sandbox failed to answer; see its log' })
  })
  return app
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
