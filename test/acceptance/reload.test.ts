import { existsSync } from 'node:fs'
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWebhook, type WebhookServer } from '../alerts/webhook-server.ts'
import { runCli } from '../cli/support.ts'
import type { Child } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { freePort, startRedis } from '../support/redis-server.ts'
import { productsToken, type StatusView, Workplace } from './daemon.ts'

const yellow = '\u001b[33m'

const header = 'product_id,name,url,image_url,availability,price,price_currency_code'
const rowOf = (id: string, price: number) =>
  `${id},Name,https://shop.example/${id},https://shop.example/i.jpg,InStock,${price},EUR`
const feedOf = (ids: readonly string[], price: number) =>
  `${[header, ...ids.map((id) => rowOf(id, price))].join('\n')}\n`

/** Each test changes the configuration of one daemon, which keeps its process. */
describe('a changed configuration', () => {
  let workplace: Workplace
  let daemon: Child
  let webhook: WebhookServer
  let url: string
  const configFile = () => workplace.path('catalogd.yaml')
  const edit = async (from: string, to: string) => {
    const text = await readFile(configFile(), 'utf8')
    expect(text).toContain(from)
    await writeFile(configFile(), text.replace(from, to))
  }
  const record = async () => JSON.parse(await readFile(workplace.path('state', 'daemon.json'), 'utf8'))

  beforeAll(async () => {
    webhook = await openWebhook()
    url = `http://127.0.0.1:${await freePort()}`
    const top = `console: { listen: "${new URL(url).host}", token: an-operator }\n`
    workplace = await Workplace.open(
      `
deferred: { after: 0s, atMost: 1s }
delivery: { horizon: 1s, callsPerSecond: 100 }
feeds:
  shop: { drop: ./drop/shop, settle: 0s, mode: delta }
`,
      { top },
    )
    await appendFile(configFile(), `alerts: { url: ${webhook.url}, every: 0s }\n`)
    daemon = await workplace.start()
  })
  afterAll(async () => {
    await workplace?.[Symbol.asyncDispose]()
    await webhook?.[Symbol.asyncDispose]()
  })

  it('is used without ending a call that runs, and no import ends for a delivery setting', async () => {
    await workplace.fault({ slow: 2_000, apply: 'before', content: true })
    await workplace.drop('shop', 'a.csv', feedOf(['p1'], 1))
    await workplace.untilTaken('p1', 1)
    await edit('callsPerSecond: 100', 'callsPerSecond: 50')
    const done = await workplace.ask<object>('reload')
    expect(done).toMatchObject({ pid: daemon.pid, changed: ['catalogs.main.delivery.callsPerSecond'] })
    await fetch(`${workplace.sandbox.url}/sandbox/faults`, { method: 'DELETE' })
    await workplace.untilQuiet()
    // One that had been given up would be sent again.
    expect((await workplace.held('p1'))?.times).toBe(1)
    expect((await workplace.run('reload')).stdout).toContain('runs with this configuration already')
  })

  it('brings a new feed, and another mapping for the next file', async () => {
    await edit('  shop: {', '  stock: { drop: ./drop/stock, settle: 0s, mode: delta }\n      shop: {')
    expect(await workplace.run('reload')).toMatchObject({ code: 0 })
    await workplace.drop('stock', 'b.csv', feedOf(['p2'], 2))
    await workplace.untilTaken('p2', 1)
    await edit('stock, settle: 0s,', 'stock, settle: 0s, fields: { product_id: sku, price: Preis },')
    expect(await workplace.run('reload')).toMatchObject({ code: 0 })
    await workplace.drop('stock', 'c.csv', 'sku,Preis\np2,3\n')
    await workplace.untilTaken('p2', 2)
    expect((await workplace.documents()).get('p2')).toMatchObject({ price: 3, name: 'Name' })
  })

  it('does not keep a large file from going in whole', async () => {
    const ids = Array.from({ length: 60_000 }, (_, index) => `n${index}`)
    await workplace.drop('shop', 'large.csv', feedOf(ids, 5))
    await waitFor(async () => (await workplace.documents()).size > 2, { what: 'a first part of the file' })
    await edit('mode: delta }\n    ', 'mode: delta, expectEvery: 20d }\n    ')
    expect(await workplace.run('reload')).toMatchObject({ code: 0 })
    await workplace.untilImported(4)
    await workplace.untilQuiet()
    const documents = await workplace.documents()
    expect(ids.filter((id) => documents.get(id)?.price !== 5)).toEqual([])
  })

  it('leaves the console as it is: sessions, pages that are looked at, and a push go on', async () => {
    const form = new URLSearchParams({ token: 'an-operator' })
    const login = await fetch(`${url}/login`, { method: 'POST', body: form, redirect: 'manual' })
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    const stream = await fetch(`${url}/feeds`, { headers: { cookie, accept: 'text/event-stream' } })
    let seen = ''
    const watching = (async () => {
      for await (const chunk of stream.body ?? []) seen += Buffer.from(chunk).toString('utf8')
    })().catch(() => undefined)
    const { readable, writable } = new TransformStream<string, string>()
    const writer = writable.getWriter()
    const push = fetch(`${url}/feeds/shop`, {
      method: 'POST',
      headers: { authorization: 'Bearer an-operator' },
      body: readable.pipeThrough(new TextEncoderStream()),
      duplex: 'half',
    } as RequestInit)
    await writer.write(feedOf(['p3'], 3))
    await waitFor(() => seen.includes('feed-stock'), { what: 'the page' })
    await edit('  shop: {', '  third: { drop: ./drop/third, settle: 0s, mode: delta }\n      shop: {')
    const reloading = workplace.run('reload')
    const refused = () => fetch(`${url}/feeds/shop`, { method: 'POST', headers, body: 'x' })
    const headers = { authorization: 'Bearer an-operator' }
    await waitFor(async () => (await refused()).status === 503, { what: 'the catalog to close' })
    await writer.write(rowOf('p30', 3))
    await writer.close()
    expect((await push).status).toBe(202)
    expect(await reloading).toMatchObject({ code: 0 })
    await workplace.untilTaken('p30', 1)
    await waitFor(() => seen.includes('feed-third'), { what: 'the new feed in the page' })
    const again = await fetch(`${url}/settings`, { headers: { cookie }, redirect: 'manual' })
    expect(again.status).toBe(200)
    expect(await again.text()).toContain('The daemon runs with what the file says.')
    await stream.body?.cancel().catch(() => undefined)
    await Promise.race([watching, undefined])
  })

  it('with a mistake is refused with file, line and remedy; the former one goes on, and an alert tells', async () => {
    await edit('settle: 0s', 'setle: 0s')
    await edit('callsPerSecond: 50', 'callPerSecond: 50')
    const refused = await workplace.run('reload')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(
      /catalogd\.yaml:\d+:\d+ .*setle: found an unknown key; did you mean "settle"/,
    )
    process.kill(daemon.pid, 'SIGHUP')
    const alert = await webhook.until('config', 'firing')
    expect(alert.message).toMatch(/is not used, and a restart would fail: .*catalogd\.yaml:\d+:\d+ .*setle/)
    expect((await record()).reload.error.problems).toHaveLength(2)
    // Nothing of the file can be trusted, so the daemon's own is shown.
    expect(await workplace.ask('status')).toMatchObject({
      configuration: { state: 'unusable', problem: expect.stringContaining('did you mean "settle"') },
      catalogs: [
        {
          feeds: [{ feed: 'stock' }, { feed: 'third' }, { feed: 'shop', lastFile: { outcome: 'imported' } }],
        },
      ],
    })
    const shown = await runCli(['status', '--config', configFile()], { isTTY: true })
    expect(shown).toMatchObject({ exitCode: 1, stderr: '' })
    expect(shown.stdout).toContain(`${yellow}config    ${configFile()} cannot be used`)
    const { stdout: plain } = await workplace.run('status')
    expect(plain).not.toContain(yellow)
    // A line for each mistake, and one for the remedy.
    expect(plain.match(/^config {4}.*did you mean "(callsPerSecond|settle)"\?$/gm)).toHaveLength(2)
    expect(plain).toMatch(/^config {4}Correct these 2 places and run "catalogd config check"$/m)
    await workplace.drop('shop', 'd.csv', feedOf(['p4'], 4))
    await workplace.untilTaken('p4', 1)
    await edit('setle: 0s', 'settle: 0s')
    await edit('callPerSecond: 50', 'callsPerSecond: 50')
    process.kill(daemon.pid, 'SIGHUP')
    await webhook.until('config', 'resolved')
  })

  it('with a mistake keeps nobody from working with the daemon that runs on', async () => {
    await writeFile(workplace.path('f.csv'), feedOf(['p6'], 6))
    await edit('settle: 0s', 'setle: 0s')
    const worksWith: readonly [code: number, ...words: string[]][] = [
      [0, 'load', 'shop', workplace.path('f.csv')],
      [0, 'pause'],
      [0, 'imports'],
      [0, 'imports', '1'],
      [0, 'why', 'p6'],
      [1, 'why', 'unheard-of'],
      [0, 'calls'],
      [0, 'dead', 'list'],
      [0, 'diff', 'shop', workplace.path('f.csv')],
      [2, 'approve', '1'],
      [0, 'resume'],
      [0, 'backup', workplace.path('backup')],
      [0, 'config', 'print'],
    ]
    for (const [code, ...words] of worksWith) {
      const ran = await workplace.runHere(...words)
      expect({ words, ...ran }).toMatchObject({ words, code })
      const [first, ...others] = ran.stderr.split('\n')
      expect(first).toBe(
        'the configuration file has a mistake (see catalogd config check); this command works with what the daemon runs with',
      )
      // Nothing of the file is repeated, and no secret of the daemon's configuration is shown.
      expect(others.join('\n')).not.toContain('setle')
      expect(ran.stdout).not.toContain('an-operator')
    }
    expect((await workplace.run('pause', '--json')).stderr).toBe('')
    expect(await workplace.ask('status')).toMatchObject({ catalogs: [{ overview: { paused: [{}] } }] })
    expect((await workplace.runHere('resume')).code).toBe(0)
    await workplace.untilTaken('p6', 1)
    for (const words of [['config', 'check'], ['check', 'shop', workplace.path('f.csv')], ['reload']]) {
      const refused = await workplace.runHere(...words)
      expect({ words, ...refused }).toMatchObject({ words, code: 2 })
      expect(refused.stderr).toContain('setle: found an unknown key')
    }
    await edit('setle: 0s', 'settle: 0s')
    expect((await workplace.runHere('imports')).stderr).toBe('')
  })

  it('that needs a restart, or another endpoint, is refused with that sentence', async () => {
    const before = await readFile(configFile(), 'utf8')
    await edit(`"\${CATALOG_API_URL}"`, '"http://127.0.0.1:1"')
    const refused = await workplace.run('reload')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(/catalogd\.yaml:\d+:\d+ catalogs\.main\.api\.url: names another endpoint/)
    expect(refused.stderr).toContain('catalogd adopt')
    await writeFile(
      configFile(),
      before.replace('state: ./state\n', 'state: ./state\nredis: redis://127.0.0.1:1\n'),
    )
    expect((await workplace.run('reload')).stderr).toMatch(/:2:1 redis\.url: cannot change while .* restart/)
    await writeFile(configFile(), before)
    expect(await workplace.run('reload')).toMatchObject({ code: 0 })
  })

  it('that cannot be opened gives way to the former one', async () => {
    const listen = `listen: "${new URL(url).host}"`
    await edit(listen, 'listen: "203.0.113.1:1"')
    const refused = await workplace.run('reload')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('the console cannot listen on 203.0.113.1:1')
    await edit('listen: "203.0.113.1:1"', listen)
    expect(await workplace.run('reload')).toMatchObject({ code: 0 })
    await workplace.drop('shop', 'e.csv', feedOf(['p5'], 5))
    await workplace.untilTaken('p5', 1)
    expect(daemon.running).toBe(true)
  })

  it('is refused, too, when a file of the console is gone that the former one was opened with', async () => {
    const before = await readFile(configFile(), 'utf8')
    const token = workplace.path('console-token')
    await writeFile(token, 'secret')
    await edit('token: an-operator', 'tokenFile: ./console-token')
    expect(await workplace.run('reload')).toMatchObject({ code: 0 })
    await rm(token)
    await edit('callsPerSecond: 50', 'callsPerSecond: 60')
    const refused = await workplace.run('reload')
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('console-token cannot be read'),
    })
    await writeFile(configFile(), before)
    expect(await workplace.run('reload')).toMatchObject({ code: 0 })
    expect(daemon.running).toBe(true)
  })

  it('without a feed whose file was not imported yet is told by status, until it is back', async () => {
    await using other = await Workplace.open('feeds: { shop: { drop: ./drop/shop, settle: 0s } }')
    await other.start({ args: ['--roles', 'watch'] })
    await other.drop('shop', 'a.csv', feedOf(['p1'], 1))
    const first = async () => (await other.ask<StatusView>('status')).catalogs[0]
    const accepted = async () => (await first())?.feeds[0]?.waitingFiles === 1
    await waitFor(accepted, { what: 'a file that waits' })
    const text = await readFile(other.path('catalogd.yaml'), 'utf8')
    for (const name of ['goods', 'shop']) {
      await writeFile(other.path('catalogd.yaml'), text.replace('shop: {', `${name}: {`))
      expect(await other.run('reload')).toMatchObject({ code: 0 })
      const told = async () => ((await first())?.notices.length === 1) === (name === 'goods')
      await waitFor(told, { what: `what status says of feed ${name}` })
    }
  })

  it('with a new token in .env tries it at once, and status says before where it stands and when the next try is', async () => {
    await using other = await Workplace.open('feeds: { shop: { drop: ./drop/shop, settle: 0s } }')
    const envFile = other.path('.env')
    await writeFile(envFile, 'API_PRODUCTS_TOKEN=of-yesterday\n', { mode: 0o600 })
    await other.start({ env: { API_PRODUCTS_TOKEN: undefined } })
    await other.drop('shop', 'a.csv', feedOf(['p1'], 1))
    const pause = async () => (await other.status()).overview.paused[0]
    const isFar = async () => ((await pause())?.nextTryMs ?? 0) > 7_500
    await waitFor(isFar, { what: 'a next try that is far away' })
    expect((await pause())?.hint).toContain(
      `token of this catalog in ${envFile} (variable API_PRODUCTS_TOKEN), then run catalogd reload`,
    )
    expect((await other.run('status')).stdout).toMatch(
      / {4}tried last at \S+ \S+ \(\d.* ago\), next try in \d+ s\n/,
    )
    await writeFile(envFile, `API_PRODUCTS_TOKEN=${productsToken}\n`)
    expect(await other.run('reload')).toMatchObject({ code: 0 })
    const beganAt = performance.now()
    await other.untilTaken('p1', 1)
    expect(performance.now() - beganAt).toBeLessThan(6_000)
  })

  it('is read by status, unless the daemon runs with this very file and has noted it', async () => {
    await using other = await Workplace.open('feeds: { shop: { drop: ./drop/shop, settle: 0s } }')
    const started = await other.start()
    const [file, record] = [other.path('catalogd.yaml'), other.path('state', 'daemon.json')]
    const seen = async () => {
      const { configuration, catalogs } = await other.ask<StatusView & { configuration: object }>('status')
      return { configuration, feeds: catalogs[0]?.feeds.map(({ feed }) => feed) }
    }
    const mark = async () => {
      const noted = await readFile(record, 'utf8')
      await writeFile(record, noted.replaceAll('"name":"shop"', '"name":"noted"'))
    }
    await waitFor(() => existsSync(record), { what: 'what the daemon notes' })
    expect(await seen()).toMatchObject({ configuration: { state: 'same' }, feeds: ['shop'] })
    await mark()
    expect(await seen()).toMatchObject({ configuration: { state: 'same' }, feeds: ['noted'] })
    const text = await readFile(file, 'utf8')
    await writeFile(file, `${text}# another version\n`)
    expect(await seen()).toMatchObject({ configuration: { state: 'changed' }, feeds: ['shop'] })
    await writeFile(file, text.replace('settle', 'setle'))
    process.kill(started.pid, 'SIGHUP')
    const isRefused = async () => JSON.parse(await readFile(record, 'utf8')).reload?.error !== undefined
    await waitFor(isRefused, { what: 'the refusal' })
    await mark()
    await writeFile(file, text)
    expect(await seen()).toMatchObject({ configuration: { state: 'same' }, feeds: ['shop'] })
  })

  it('that holds a secret address of Redis is not noted', async () => {
    await using redis = await startRedis()
    await using other = await Workplace.open('feeds: { shop: { drop: ./drop/shop, settle: 0s } }', {
      top: `redis: ${redis.url}?password=\n`,
    })
    await other.start()
    const record = other.path('state', 'daemon.json')
    await waitFor(() => existsSync(record), { what: 'what the daemon notes' })
    expect(JSON.parse(await readFile(record, 'utf8'))).not.toHaveProperty('shown')
    expect(await other.ask('status')).toMatchObject({ configuration: { state: 'same' } })
    expect(await other.run('reload')).toMatchObject({ code: 0 })
  })

  it('without a daemon is told to nobody', async () => {
    await using other = await Workplace.open('feeds: { shop: { drop: ./drop/shop } }')
    const ran = await other.runHere('reload')
    expect(ran).toMatchObject({ code: 4, stdout: '' })
    expect(ran.stderr).toContain('no catalogd works on')
  })
})
