import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { leakCheck } from '../support/leak-check.ts'
import { RawConnection } from '../support/raw-http.ts'
import { openTestConsole, type TestConsole, token } from './harness.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

/** More than the buffers of a connection hold. */
const long = Buffer.alloc(24 * 1024 * 1024, 'product_id;name\n1;One\n')

interface Sent {
  body?: Buffer
  key?: string
  shown?: string
  chunked?: boolean
}

/** As clients do that read no answer before they have sent all, and use each connection once. */
async function sendFirst({ url }: TestConsole, { body = long, key, shown = token, chunked = false }: Sent) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.pause()
  const head = [
    'POST /feeds/products HTTP/1.1',
    'Host: localhost',
    'Connection: close',
    `Authorization: Bearer ${shown}`,
    chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
    ...(key === undefined ? [] : [`Idempotency-Key: ${key}`]),
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  if (chunked) socket.write(`${body.length.toString(16)}\r\n`)
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.write(body, (error) => (error ? reject(error) : resolve()))
  })
  if (chunked) socket.write('\r\n0\r\n\r\n')
  socket.resume()
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  await once(socket, 'close')
  const [, status, rest = ''] = /^HTTP\/1\.1 (\d+).*?\r\n\r\n(.*)$/s.exec(answer.toString()) ?? []
  return { status: Number(status), body: JSON.parse(rest) as { sequence?: number; error?: string } }
}

test('an answer that comes before the end of a body reaches a client that sends it all first', async () => {
  await using site = await openTestConsole({ config: { bytesMax: 30_000_000 } })
  const first = await sendFirst(site, { key: 'once' })
  expect(first).toMatchObject({ status: 202, body: { sequence: 1 } })
  expect(await sendFirst(site, { key: 'once' })).toEqual(first)
  expect(await sendFirst(site, { shown: 'other' })).toMatchObject({
    status: 403,
    body: { error: 'forbidden' },
  })
  expect((await site.archived()).length).toBe(1)
})

test('a body that turns out too long is refused with a reason', async () => {
  await using site = await openTestConsole({ config: { bytesMax: 1_000_000 } })
  const answer = { status: 413, body: { error: 'push-too-large' } }
  expect(await sendFirst(site, { chunked: true })).toMatchObject(answer)
  expect(await sendFirst(site, {})).toMatchObject(answer)
  expect(await site.archived()).toEqual([])
  expect(site.lines.map(({ msg }) => msg)).not.toContain('a push was broken off')
})

const megabyte = 1_000_000
const refused: [string, string, number][] = [
  ['without a token', 'POST /feeds/products', 401],
  ['of an unknown path', 'PUT /nowhere', 404],
  ['of an unknown feed', `POST /feeds/nowhere HTTP/1.1\r\nAuthorization: Bearer ${token}`, 404],
  [
    'of an unknown media type',
    `POST /feeds/products HTTP/1.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: image/png`,
    415,
  ],
]

/** Request line and headers; the version may stand in the first line already. */
function headOf(start: string, ...headers: string[]): string {
  const first = start.includes(' HTTP/') ? start : `${start} HTTP/1.1`
  return `${[first, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`
}

test.each(refused)(
  'the connection of a request %s is closed when it asks for that',
  async (_name, start, status) => {
    await using site = await openTestConsole({ config: { bytesMax: 30_000_000 } })
    await using connection = await RawConnection.open(site.url)
    const body = Buffer.alloc(12 * megabyte, ' ')
    connection.write(headOf(start, 'Connection: close', `Content-Length: ${body.length}`))
    connection.write(body)
    const answers = await connection.answersToEnd(60_000)
    expect(answers.map((answer) => [answer.status, answer.headers.connection])).toEqual([[status, 'close']])
  },
)

test.each(refused)(
  'a body without end of a request %s is not read for ever',
  async (_name, start, status) => {
    await using site = await openTestConsole()
    await using connection = await RawConnection.open(site.url)
    connection.write(headOf(start, 'Transfer-Encoding: chunked'))
    const chunk = Buffer.concat([Buffer.from('f4240\r\n'), Buffer.alloc(megabyte), Buffer.from('\r\n')])
    const answered = connection.answer({ withinMs: 60_000 })
    let sent = 0
    for (; !connection.isClosed && sent < 1_000; sent += 1) await connection.drained(chunk)
    expect((await answered)?.status).toBe(status)
    // The buffers of the connection hold some.
    expect(sent).toBeLessThan(80)
  },
  300_000,
)
