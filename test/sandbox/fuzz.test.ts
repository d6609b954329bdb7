import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startChild } from '../support/child.ts'
import { type RawAnswer, RawConnection } from '../support/raw-http.ts'
import { awkwardText, awkwardValue } from './fuzz-bodies.ts'
import { arbitraryRequest, type FuzzRequest } from './fuzz-requests.ts'
import { openTestSandbox } from './harness.ts'

const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))
const connections = 8
const batch = 50
const main = new URL('../../src/main.ts', import.meta.url)
/** Many times what an answer takes: whatever is not there then is a hang. */
const withinMs = 20_000
const memoryMax = 512 * 1024 ** 2

/** Keeps its connection as long as the server does. */
class Sender implements AsyncDisposable {
  readonly #url: string
  #connection: RawConnection | undefined

  constructor(url: string) {
    this.#url = url
  }

  async send({ isNoHttp, ...request }: FuzzRequest): Promise<RawAnswer[]> {
    if (isNoHttp) {
      await using connection = await RawConnection.open(this.#url)
      connection.write(request.body ?? '')
      connection.end()
      return await connection.answersToEnd(withinMs)
    }
    if (this.#connection === undefined || this.#connection.isClosed) {
      this.#connection = await RawConnection.open(this.#url)
    }
    const answer = await this.#connection.send(request, withinMs)
    if (answer.headers.connection !== 'keep-alive') {
      await this.#connection[Symbol.asyncDispose]()
      this.#connection = undefined
    }
    return [answer]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.[Symbol.asyncDispose]()
  }
}

function describeRequest({ body, ...request }: FuzzRequest): string {
  const bytes = body === undefined ? '' : Buffer.from(body).toString('latin1').slice(0, 2_000)
  return JSON.stringify({ ...request, target: request.target.slice(0, 500), body: bytes })
}

/** What is wrong with how a request was answered. */
async function problemOf(
  sender: Sender,
  request: FuzzRequest,
  statuses: Map<number, number>,
): Promise<string | undefined> {
  try {
    const answers = await sender.send(request)
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const wrong = answers.find((answer) => answer.status >= 500 || lacksEnvelope(request, answer))
    return wrong && `answered ${wrong.status}: ${wrong.text.slice(0, 300)}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** What is answered below the paths of the Stack has one form, whatever was asked. */
function lacksEnvelope({ isNoHttp, method, target }: FuzzRequest, { headers, text }: RawAnswer): boolean {
  const isOfStack = /^\/api\/(tilerules|moderationviews|users|terms)(\/[\w-]*)*([?#]|$)/.test(target)
  // Without a request id it was no request: nothing of the API has seen it.
  const isUsual = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].includes(method)
  if (isNoHttp || !isOfStack || !isUsual || headers['x-request-id'] === undefined) return false
  const answer: unknown = JSON.parse(text)
  return typeof answer !== 'object' || answer === null || !('data' in answer) || !('errors' in answer)
}

describe('any request', () => {
  it.each([
    ['lenient', 300, []],
    ['strict', 100, ['--strict', '--strict-auth']],
  ] as const)(
    `is answered below 500 and in time by a sandbox that is %s (seed ${seed})`,
    { timeout: 300_000 },
    async (_, numRuns, options) => {
      const args = ['sandbox', '--port', '0', '--rate', '100000000/1s', ...options]
      await using sandbox = await startChild(main, { args })
      const url = /CATALOG_API_URL=(\S+)/.exec(await sandbox.line('CATALOG_API_URL='))?.[1] ?? ''
      await using senders = new AsyncDisposableStack()
      const pool = Array.from({ length: connections }, () => senders.use(new Sender(url)))
      const statuses = new Map<number, number>()

      const requests = fc.array(arbitraryRequest, { minLength: batch, maxLength: batch })
      const property = fc.asyncProperty(requests, async (all) => {
        const waiting = all.toReversed()
        const drain = async (sender: Sender) => {
          for (let request = waiting.pop(); request !== undefined; request = waiting.pop()) {
            const problem = await problemOf(sender, request, statuses)
            if (problem !== undefined) throw new Error(`${problem}\n${describeRequest(request)}`)
          }
        }
        await Promise.all(pool.map(drain))
      })
      // Requests change what the next ones meet: a shorter list would tell nothing.
      await fc.assert(property, { numRuns, seed, endOnFailure: true })

      // Neither outcome may be so rare that the other is all that was tried.
      for (const status of [200, 400, 401, 404]) {
        expect(statuses.get(status), `${status}`).toBeGreaterThan(numRuns * batch * 0.02)
      }
      expect(sandbox.running).toBe(true)
      expect(await memoryOf(sandbox.pid)).toBeLessThan(memoryMax)
      expect(sandbox.stdout + sandbox.stderr).not.toMatch(/failed to answer|warning/i)
    },
  )
})

const awkwardSetting = fc.record(
  {
    name: awkwardValue,
    group: fc.oneof(fc.constantFrom('products', 'stack', 'any'), awkwardValue),
    status: fc.oneof(fc.integer({ min: 100, max: 600 }), awkwardValue),
    body: awkwardValue,
    headers: fc.oneof(fc.dictionary(awkwardText, awkwardText, { maxKeys: 2 }), awkwardValue),
    hang: awkwardValue,
    reset: awkwardValue,
    slow: awkwardValue,
    refuse: awkwardValue,
    apply: awkwardValue,
    calls: awkwardValue,
    share: awkwardValue,
    productIds: awkwardValue,
  },
  { requiredKeys: [] },
)

describe('any fault', () => {
  // On its own: a fault that is set answers with whatever status it names.
  it('is set or refused, and can be taken back', { timeout: 300_000 }, async () => {
    await using sandbox = await openTestSandbox()
    const setting = fc.oneof(
      awkwardSetting.map((one) => JSON.stringify(one)),
      fc.array(awkwardSetting, { maxLength: 3 }).map((some) => JSON.stringify(some)),
      awkwardText,
    )
    await fc.assert(
      fc.asyncProperty(setting, async (body) => {
        const response = await fetch(`${sandbox.url}/sandbox/faults`, { method: 'POST', body })
        const text = await response.text()
        expect([200, 400], text).toContain(response.status)
        expect(JSON.parse(text)).toHaveProperty(response.status === 200 ? 'faults' : 'problems')
        expect((await sandbox.send('DELETE', '/sandbox/faults')).status).toBe(200)
      }),
      { numRuns: 300, seed },
    )
    expect((await sandbox.upsert([])).status).toBe(200)
  })
})

/** Resident bytes of a process. */
async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024
}
