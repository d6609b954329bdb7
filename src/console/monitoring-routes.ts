import type { FastifyInstance } from 'fastify'
import type { ConsoleConfig } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import type { TokenLimit } from './access.ts'
import { authorize } from './push-route.ts'

/** How the daemon is: words only, since whoever reaches the port may ask. */
export interface Health {
  /**
   * `failing`: it cannot do its work; `starting`: not yet, as long as the catalog is moved or made ready; `attention`: it
   * can, and an operator should look at `catalogd status`.
   */
  status: 'ok' | 'attention' | 'starting' | 'failing'
  parts: Readonly<Record<string, string>>
}

export interface MonitoringOptions {
  config: ConsoleConfig
  health: () => Promise<Health>
  /** Undefined: there are none. */
  metrics?: MetricsOptions
  clock: Clock
}

interface MetricsOptions {
  /** In the format that the Accept header asks for. */
  read: (accept: string | undefined) => Promise<{ contentType: string; body: string }>
  /** Others than this machine reach the port: only those who show the token are told. */
  isReachable: boolean
}

/** Balancers and monitors may ask often; so long an answer is used again. */
const freshMs = 1_000

/**
 * For those who watch the daemon. `GET /health` and `GET /ready`: 200, or 503 when it cannot do its work (yet).
 * `GET /live`: 200 as long as it answers at all; a Redis that is away is no reason to start it again. `GET /metrics`: a
 * scrape for Prometheus.
 */
export function registerMonitoring(
  app: FastifyInstance,
  options: MonitoringOptions,
  limit: TokenLimit,
): void {
  const { config, clock, metrics } = options
  const health = remembered(options.health, clock)
  for (const path of ['/health', '/ready']) {
    app.get(path, async (_request, reply) => {
      const answer = await health()
      const isReady = answer.status === 'ok' || answer.status === 'attention'
      return reply
        .code(isReady ? 200 : 503)
        .header('cache-control', 'no-store')
        .send(answer)
    })
  }
  app.get('/live', async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  )
  if (!metrics) return
  app.get('/metrics', async (request, reply) => {
    if (metrics.isReachable && !(await authorize(request, reply, { token: config.token, limit })))
      return reply
    const { contentType, body } = await metrics.read(request.headers.accept)
    return reply.header('content-type', contentType).header('cache-control', 'no-store').send(body)
  })
}

function remembered<T>(read: () => Promise<T>, clock: Clock): () => Promise<T> {
  let last: { atMs: number; answer: Promise<T> } | undefined
  return () => {
    const now = clock.monotonic()
    if (last === undefined || now - last.atMs > freshMs) last = { atMs: now, answer: read() }
    return last.answer
  }
}
