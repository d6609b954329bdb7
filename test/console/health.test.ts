import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openConsole } from '../../src/console/console.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { openTestConsole } from './harness.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

describe('GET /health', () => {
  it('needs no token and says with its status whether the work can be done', async () => {
    await using site = await openTestConsole({ config: { token: undefined } })
    const ok = await fetch(`${site.url}/health`)
    expect([ok.status, await ok.json()]).toEqual([200, { status: 'ok', parts: { redis: 'ok' } }])
  })

  it('is 503 when it cannot', async () => {
    await using site = await openTestConsole()
    site.health = { status: 'failing', parts: { redis: 'down' } }
    const failing = await fetch(`${site.url}/health`)
    expect([failing.status, await failing.json()]).toEqual([503, site.health])
    const unknown = await fetch(`${site.url}/elsewhere`)
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: 'not-found' }])
  })
})

describe('the console', () => {
  it('waits for a port that another process uses', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const { log, lines } = collectLog()
    // Sleeps a moment whatever it is asked for.
    const clock = {
      ...systemClock,
      sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(20, signal),
    }
    await using console = await openConsole({
      config: {
        listen: { host: '127.0.0.1', port },
        token: undefined,
        readToken: undefined,
        tls: undefined,
        hosts: [],
        bytesMax: 1,
      },
      ...{ catalogs: [], clock, log, acceptorOf: () => undefined },
      health: async () => ({ status: 'ok', parts: {} }),
    })
    expect(console.url).toBeUndefined()
    expect(lines.map(({ msg }) => msg)).toEqual([expect.stringContaining('another process uses the port')])
    other.close()
    const url = await waitFor(() => console.url, { what: 'the port' })
    expect((await fetch(`${url}/health`)).status).toBe(200)
  })
})
