import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatRequest, type RawAnswer, RawConnection } from '../support/raw-http.ts'
import { basic, openTestSandbox, type TestSandbox, token } from './harness.ts'

let sandbox: TestSandbox

beforeAll(async () => {
  sandbox = await openTestSandbox({ rate: { requests: 1_000_000, perMs: 1_000 } })
  await sandbox.send('POST', '/sandbox/faults', [
    { group: 'intent', status: 503 },
    { group: 'stack', status: 500 },
  ])
})
afterAll(() => sandbox[Symbol.asyncDispose]())

/** More than the sandbox waits for before it answers. */
const long = Buffer.alloc(12_000_000, ' ')
const stack = '?access_token=sandbox-stack-token&stack=sandbox'

describe.each([
  ['products', 'POST', '/v1/products/upsert', basic(token), 413],
  ['products with a wrong token', 'POST', '/v1/products/upsert', basic('wrong'), 401],
  ['consent', 'POST', '/api/v1/customers/consent/a%40b.example/true', basic('sandbox-email-token'), 200],
  ['a fault of intent', 'POST', '/api', 'Bearer sandbox-intent-token', 503],
  ['intent with a wrong token', 'POST', '/api', 'Bearer wrong', 401],
  ['a fault of the Stack', 'POST', `/api/terms${stack}`, '', 500],
  ['a Stack path that is not there', 'POST', `/api/terms/1/2/3${stack}`, '', 500],
  ['faults', 'POST', '/sandbox/faults', '', 400],
  ['reset', 'POST', '/sandbox/nothing', '', 404],
  ['a path that is nowhere', 'PUT', '/nowhere', '', 404],
  ['a body that nobody expects', 'GET', '/sandbox/summary', '', 200],
])('an answer to a body that is not read (%s)', (_, method, target, authorization, status) => {
  const headers = authorization === '' ? [] : ([['authorization', authorization]] as const)
  const request = { method, target, headers, body: long }
  const next = { method: 'GET', target: '/sandbox/summary' }

  it('leaves the connection to the next request', async () => {
    await using connection = await RawConnection.open(sandbox.url)
    for (const more of [{}, { chunkBytes: 100_000 }]) {
      const answer = await connection.send({ ...request, ...more })
      expect([answer.status, answer.headers.connection]).toEqual([status, 'keep-alive'])
      expect(await connection.send(next)).toMatchObject({ status: 200 })
    }
  })

  it('reaches who writes all before it reads, whether it closes then or not', async () => {
    for (let round = 0; round < 15; round += 1) {
      await using connection = await RawConnection.open(sandbox.url)
      const close = round % 2 === 0 ? ([['connection', 'close']] as const) : []
      connection.pause()
      await connection.drained(formatRequest({ ...request, headers: [...headers, ...close] }))
      connection.resume()
      expect(await connection.answer()).toMatchObject({ status })
    }
  })
})

it('a body without end is answered, and its connection destroyed', { timeout: 300_000 }, async () => {
  await using connection = await RawConnection.open(sandbox.url)
  connection.write('POST /sandbox/faults HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
  const chunk = Buffer.concat([Buffer.from('f4240\r\n'), Buffer.alloc(1_000_000), Buffer.from('\r\n')])
  const answers: RawAnswer[] = []
  const answered = connection.answersToEnd(60_000).then((all) => answers.push(...all))
  let sent = 0
  while (!connection.isClosed && sent < 1_000) {
    await connection.drained(chunk)
    sent += 1
  }
  await answered
  expect(answers.map(({ status }) => status)).toEqual([400])
  expect(sent).toBeLessThan(100)
})
