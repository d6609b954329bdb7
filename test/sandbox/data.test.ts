import { appendFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSandbox } from '../../src/sandbox/sandbox.ts'
import { startChild } from '../support/child.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'
import { basic, openTestSandbox, product, type TestSandbox, token } from './harness.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const email = 'Ann+news@shop.example'

async function setConsent(sandbox: TestSandbox, consent: boolean) {
  const response = await fetch(
    `${sandbox.url}/v1/customers/consent/${encodeURIComponent(email)}/${consent}`,
    {
      method: 'POST',
      headers: { authorization: basic('sandbox-email-token'), connection: 'close' },
    },
  )
  expect(response.status).toBe(200)
}

async function createTerm(url: string) {
  const response = await fetch(`${url}/api/terms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ type: 'search', network: 'twitter', term: 'pans' }),
  })
  expect(response.status).toBe(200)
}

const terms = async (sandbox: TestSandbox) =>
  ((await sandbox.get('/api/terms')) as { data: { term: string }[] }).data.map(({ term }) => term)

describe('the data file', () => {
  it('keeps products, consents and the Stack from one sandbox to the next', async () => {
    await using dir = await tempDir('sandbox-data')
    const dataFile = dir.join('sandbox.ndjson')
    // White space, escapes, line breaks and a number that JavaScript cannot hold: the bytes count.
    const document = `{ "product_id" : "é\\u0301/1",\n"price":1.10000000000000000001, "name":"ü 𝔘", "url":"https://a.b/c",
      "image_url":"https://a.b/c", "availability":"InStock","price_currency_code":"EUR"}`
    {
      await using sandbox = await openTestSandbox({ dataFile })
      expect((await sandbox.upsert(`[${document}]`)).status).toBe(200)
      await sandbox.upsert([product('b'), product('b', { price: 3 })])
      await setConsent(sandbox, true)
      await setConsent(sandbox, false)
      await createTerm(sandbox.url)
    }
    await using again = await openTestSandbox({ dataFile })
    expect(await again.summary()).toMatchObject({
      products: 2,
      documentsTaken: 3,
      consents: { total: 1, granted: 0, timesTaken: 2 },
      calls: { total: 0 },
    })
    const lines = await (await fetch(`${again.url}/sandbox/products.ndjson`)).text()
    expect(lines.split('\n')[0]).toBe(document.replaceAll('\n', ' '))
    const shown = await fetch(`${again.url}/sandbox/products?id=${encodeURIComponent('é\u0301/1')}`)
    expect(await shown.text()).toContain(`"document":${document}}`)
    expect(await again.get('/sandbox/products/b')).toMatchObject({ times: 2, document: { price: 3 } })
    expect(await again.get(`/sandbox/consents/${email.toLowerCase()}`)).toMatchObject({
      email,
      consent: false,
      states: [{ consent: true }, { consent: false }],
    })
    expect(await terms(again)).toEqual(['pans'])
    // What was kept is ranked, too.
    const answer = await fetch(`${again.url}/api`, {
      method: 'POST',
      headers: { authorization: 'Bearer sandbox-intent-token', connection: 'close' },
      body: JSON.stringify({ prompt: 'pan b', customerId: 'c', partnerId: 'p', chatId: 'h' }),
    })
    expect(await answer.json()).toMatchObject({ agentProductRecommendations: [{ productId: 'b' }] })
  })

  it('takes away what killed writers left, and nothing else', async () => {
    await using dir = await tempDir('sandbox-data')
    // Above every id that a process can have; the parent of this process is there as long as it is.
    const gone = 999_999_999
    const others = ['other.ndjson.1.tmp', 'sandbox.ndjson.tmp', `sandbox.ndjson.${process.ppid}.tmp`]
    const left = [`sandbox.ndjson.${gone}.tmp`, `sandbox.ndjson.${process.pid}.tmp`]
    for (const name of [...others, ...left]) await writeFile(dir.join(name), 'half')
    {
      await using _ = await openTestSandbox({ dataFile: dir.join('sandbox.ndjson') })
    }
    expect((await readdir(dir.path)).sort()).toEqual([...others, 'sandbox.ndjson'].sort())
  })

  it('is for its owner only, and alone in its folder', async () => {
    await using dir = await tempDir('sandbox-data')
    const dataFile = dir.join('sandbox.ndjson')
    {
      await using sandbox = await openTestSandbox({ dataFile })
      await sandbox.upsert([product('a')])
    }
    expect(await readdir(dir.path)).toEqual(['sandbox.ndjson'])
    expect((await stat(dataFile)).mode & 0o777).toBe(0o600)
  })

  it('is written soon after a change, and at the end of a process', async () => {
    await using dir = await tempDir('sandbox-data')
    const dataFile = dir.join('sandbox.ndjson')
    await using child = await startChild('src/main.ts', {
      args: ['sandbox', '--port', '0', '--data', dataFile, '--json'],
    })
    await child.line('"url"')
    const { url } = JSON.parse(child.stdout) as { url: string }
    await createTerm(url)
    await expect.poll(() => readFile(dataFile, 'utf8'), { timeout: 120_000 }).toContain('pans')
    await createTerm(url)
    const ended = child.ended()
    await child.kill('SIGTERM')
    expect(await ended).toEqual({ code: 0, signal: null })
    await using again = await openTestSandbox({ dataFile })
    expect(await terms(again)).toEqual(['pans', 'pans'])
  })

  it.each([
    ['other text', 'id,name\n1,x\n', ':1 cannot be used'],
    ['another NDJSON', '{"a":1}\n', ':1 cannot be used'],
    ['nothing', '', ':1 cannot be used: its end is missing'],
    [
      'a consent without an address',
      '{"kind":"head","of":"catalogd sandbox","version":1}\n{"kind":"consent"}\n',
      ':2 cannot be used: something is wrong with email',
    ],
  ])('that holds %s is refused, naming the place', async (_, text, message) => {
    await using dir = await tempDir('sandbox-data')
    const dataFile = dir.join('sandbox.ndjson')
    await writeFile(dataFile, text)
    await expect(openSandbox({ port: 0, productsToken: token, dataFile })).rejects.toMatchObject({
      message: expect.stringContaining(message),
      hint: expect.stringContaining('--data'),
      exitCode: 2,
    })
    expect(await readFile(dataFile, 'utf8')).toBe(text)
  })

  it('that lost its end, or has more after it, is refused', async () => {
    await using dir = await tempDir('sandbox-data')
    const dataFile = dir.join('sandbox.ndjson')
    {
      await using sandbox = await openTestSandbox({ dataFile })
      await sandbox.upsert([product('a')])
    }
    const whole = await readFile(dataFile, 'utf8')
    await writeFile(dataFile, whole.split('\n').slice(0, -2).join('\n'))
    const open = () => openSandbox({ port: 0, productsToken: token, dataFile })
    await expect(open()).rejects.toThrow('its end is missing')
    await writeFile(dataFile, whole)
    await appendFile(dataFile, '{"kind":"end"}\n')
    await expect(open()).rejects.toThrow('more after its end')
  })

  it('that cannot be read or written ends the start', async () => {
    await using dir = await tempDir('sandbox-data')
    await mkdir(dir.join('folder'))
    const open = (dataFile: string) => openSandbox({ port: 0, productsToken: token, dataFile })
    await expect(open(dir.join('folder'))).rejects.toThrow('cannot be read')
    await expect(open(dir.join('missing', 'file'))).rejects.toMatchObject({ exitCode: 4 })
  })
})
