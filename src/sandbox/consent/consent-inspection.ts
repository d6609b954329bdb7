import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { describeLogged } from '../call-log.ts'
import type { OverlapWatch } from '../overlaps.ts'
import { inChunks, isoTime, type PageQuery, pageOf } from '../page-query.ts'
import type { ConsentCall, ConsentLog, ConsentStore, HeldConsent } from './consent-store.ts'

export interface InspectedConsents {
  consents: ConsentStore
  consentCalls: ConsentLog
  consentOverlaps: OverlapWatch
}

const overlapsShownMax = 20

/** What the consent calls said, for people and tests: `/sandbox/consents…`. The only place that shows addresses. */
export async function registerConsentInspection(
  scope: FastifyInstance,
  parts: InspectedConsents,
): Promise<void> {
  const { consents, consentCalls, consentOverlaps } = parts

  scope.get<{ Querystring: PageQuery }>('/sandbox/consents', async ({ query }) => {
    const { offset, limit } = pageOf(query)
    return {
      ...summariseConsents(parts),
      overlapping: { count: consentOverlaps.count, emails: consentOverlaps.first(overlapsShownMax) },
      offset,
      consents: [...consents.values()].slice(offset, offset + limit).map(describeConsent),
    }
  })
  scope.get<{ Querystring: PageQuery }>('/sandbox/consents/calls', async ({ query }) => {
    const { offset, limit } = pageOf(query)
    return {
      total: consentCalls.total,
      offset,
      calls: consentCalls.page(offset, limit).map((call) => describeCall(call)),
    }
  })
  scope.get('/sandbox/consents.ndjson', async (_request, reply) =>
    reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(consentLines(consents))),
  )
  scope.get<{ Params: { '*': string } }>('/sandbox/consents/*', async (request, reply) => {
    const email = request.params['*']
    const held = consents.get(email)
    const calls = consentCalls.of(email)
    if (held === undefined && calls.length === 0) {
      return reply.code(404).send({ message: 'no consent call has named this address' })
    }
    return {
      ...(held === undefined ? { email, consent: null, times: 0 } : describeConsent(held)),
      states: held?.taken.map(({ atMs, consent }) => ({ consent, at: isoTime(atMs), atMs })) ?? [],
      calls: calls.map(describeCall),
    }
  })
  scope.delete('/sandbox/consents', async () => {
    for (const part of [consents, consentCalls, consentOverlaps]) part.clear()
    return {}
  })
}

/** Counts only: fit for the summary. */
export function summariseConsents({ consents, consentCalls, consentOverlaps }: InspectedConsents): object {
  return {
    total: consents.size,
    granted: consents.granted,
    revoked: consents.size - consents.granted,
    timesTaken: consents.timesTaken,
    calls: consentCalls.summarise(),
    overlapping: { count: consentOverlaps.count },
  }
}

function describeConsent({ email, consent, timesTaken, taken }: HeldConsent) {
  const last = taken.at(-1)?.atMs
  return { email, consent, times: timesTaken, lastAt: isoTime(last), lastAtMs: last ?? null }
}

function describeCall(call: ConsentCall) {
  return describeLogged(call, { email: call.email ?? null, consent: call.consent ?? null })
}

function consentLines(consents: ConsentStore): Iterable<string> {
  const lineOf = (held: HeldConsent) => `${JSON.stringify(describeConsent(held))}\n`
  return inChunks(consents.values(), lineOf, (lines) => lines.join(''))
}
