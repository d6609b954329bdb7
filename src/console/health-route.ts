import type { FastifyInstance } from 'fastify'
import type { Clock } from '../lib/clock.ts'

/** How the daemon is: words only, since whoever reaches the port may ask. */
export interface Health {
  /**
   * `failing`: it cannot do its work; `starting`: not yet, as long as the catalog is moved or made ready; `attention`: it
   * can, and an operator should look at `catalogd status`.
   */
  status: 'ok' | 'attention' | 'starting' | 'failing'
  parts: Readonly<Record<string, string>>
}

/** Balancers and monitors may ask often; so long an answer is used again. */
const freshMs = 1_000

/** `GET /health`: 200, or 503 when the daemon cannot do its work (yet). */
export function registerHealth(
  app: FastifyInstance,
  { health, clock }: { health: () => Promise<Health>; clock: Clock },
): void {
  let last: { atMs: number; answer: Promise<Health> } | undefined
  app.get('/health', async (_request, reply) => {
    const now = clock.monotonic()
    if (last === undefined || now - last.atMs > freshMs) last = { atMs: now, answer: health() }
    const answer = await last.answer
    return reply
      .code(answer.status === 'failing' || answer.status === 'starting' ? 503 : 200)
      .header('cache-control', 'no-store')
      .send(answer)
  })
}
