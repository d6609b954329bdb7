import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drainRequests } from '../../src/lib/drain-request.ts'
import { leakCheck } from '../support/leak-check.ts'
import { formatRequest, type RawAnswer, RawConnection } from '../support/raw-http.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const megabyte = 1_000_000
/** Many times the bound of a drain, and less than the time after which an idle connection is closed. */
const keepAliveTimeout = 300_000

interface TestServer extends AsyncDisposable {
  url: string
  requests: string[]
}

/** Answers `/early` before it reads, `/paused` in the middle of the body, and all else after the body. */
async function openServer(): Promise<TestServer> {
  const requests: string[] = []
  const listener: RequestListener = (request, response) => {
    const { method, url = '' } = request
    requests.push(`${method} ${url}`)
    const answer = () => response.end(`answer to ${url}`)
    if (url === '/early') answer()
    else if (url === '/paused') {
      request.once('data', () => {
        request.pause()
        void nextTurn().then(answer)
      })
    } else request.on('end', answer).resume()
  }
  const server = createServer({ keepAliveTimeout, requestTimeout: 0 }, listener)
  drainRequests(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Sends all before it reads anything, as many clients do. */
async function writeThenRead(url: string, bytes: Buffer): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.pause()
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => parts.push(part))
  socket.resume()
  await once(socket, 'end')
  socket.destroy()
  await once(socket, 'close')
  return Buffer.concat(parts).toString()
}

describe.each(['/early', '/paused'])('an answer before the end of the body (%s)', (target) => {
  it.each([
    ['with its length', undefined],
    ['in chunks', 64_000],
  ])('leaves the connection to the next request (body %s)', async (_, chunkBytes) => {
    await using server = await openServer()
    await using connection = await RawConnection.open(server.url)
    const body = Buffer.alloc(12 * megabyte, ' ')
    for (let round = 0; round < 3; round += 1) {
      const more = chunkBytes === undefined ? {} : { chunkBytes }
      const first = await connection.send({ method: 'POST', target, body, ...more })
      expect(first).toMatchObject({ status: 200, text: `answer to ${target}` })
      expect(first.headers.connection).toBe('keep-alive')
      const next = await connection.send({ method: 'POST', target: '/whole', body: 'x' })
      expect(next).toMatchObject({ status: 200, text: 'answer to /whole' })
    }
  })

  it.each([
    ['close', 'Connection: close'],
    ['an older version', 'HTTP/1.0'],
  ])('reaches who writes 12 MB first, reads then, and asks for %s', async (_, what) => {
    await using server = await openServer()
    const bytes = formatRequest({
      method: 'POST',
      target,
      headers: [['Connection', 'close']],
      body: Buffer.alloc(12 * megabyte, ' '),
      version: what === 'HTTP/1.0' ? '1.0' : '1.1',
    })
    for (let round = 0; round < 15; round += 1) {
      const answer = await writeThenRead(server.url, bytes)
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
      expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n')
      expect(answer).toContain(`answer to ${target}`)
    }
  })

  it('leaves what was sent behind the body to the next handler', async () => {
    await using server = await openServer()
    await using connection = await RawConnection.open(server.url)
    const body = Buffer.alloc(2 * megabyte, ' ')
    const targets = [target, '/whole', target, target, '/whole']
    const requests = targets.map((one) => formatRequest({ method: 'POST', target: one, body }))
    connection.write(Buffer.concat(requests))
    const texts: string[] = []
    for (const _ of targets) texts.push((await connection.answer())?.text ?? '')
    expect(texts).toEqual(targets.map((one) => `answer to ${one}`))
  })

  it('of a sender that waits for 100 Continue is followed by its body and the next request', async () => {
    await using server = await openServer()
    await using connection = await RawConnection.open(server.url)
    const body = Buffer.alloc(3 * megabyte, ' ')
    const headers = [
      ['Expect', '100-continue'],
      ['Content-Length', String(body.length)],
    ] as const
    connection.write(formatRequest({ method: 'POST', target, headers }))
    // The early answer may come at once, the other one needs some of the body.
    connection.write(body)
    expect(await connection.answer()).toMatchObject({ status: 200, interim: [100] })
    expect(await connection.send({ method: 'GET', target: '/whole' })).toMatchObject({ status: 200 })
  })

  it('destroys the connection of a body without end', { timeout: 300_000 }, async () => {
    await using server = await openServer()
    await using connection = await RawConnection.open(server.url)
    connection.write(`POST ${target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`)
    const chunk = Buffer.concat([Buffer.from('f4240\r\n'), Buffer.alloc(megabyte), Buffer.from('\r\n')])
    let sent = 0
    let answer: RawAnswer | undefined
    const answered = connection.answer({ withinMs: 60_000 }).then((one) => {
      answer = one
    })
    while (!connection.isClosed && sent < 1_000) {
      await connection.drained(chunk)
      sent += 1
    }
    await answered
    expect(answer?.status).toBe(200)
    // Above the bound, the buffers of the connection hold a few.
    expect(sent).toBeGreaterThan(35)
    expect(sent).toBeLessThan(80)
  })

  it('destroys the connection of a sender that says no more', { timeout: 300_000 }, async () => {
    await using server = await openServer()
    await using connection = await RawConnection.open(server.url)
    connection.write(`POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nbegun`)
    const answers = await connection.answersToEnd(60_000)
    expect(answers.map(({ status }) => status)).toEqual([200])
  })
})

it('an expectation that cannot be met is refused, and a body without end behind it is not read for ever', {
  timeout: 300_000,
}, async () => {
  await using server = await openServer()
  await using connection = await RawConnection.open(server.url)
  const head = 'POST /whole HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\n'
  connection.write(`${head}Content-Length: 1\r\n\r\nx`)
  expect(await connection.answer()).toMatchObject({ status: 417 })
  connection.write(`${head}Content-Length: 100000000000\r\n\r\n`)
  expect(await connection.answer()).toMatchObject({ status: 417 })
  const part = Buffer.alloc(megabyte)
  let sent = 0
  while (!connection.isClosed && sent < 1_000) {
    await connection.drained(part)
    sent += 1
  }
  expect(sent).toBeLessThan(80)
  expect(server.requests).toEqual([])
})

it('a sender that goes away after its answer leaves nothing behind', async () => {
  await using server = await openServer()
  const connection = await RawConnection.open(server.url)
  connection.write('POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nbegun')
  expect(await connection.answer()).toMatchObject({ status: 200 })
  await connection[Symbol.asyncDispose]()
})
