import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitFor } from '../support/events.ts'
import { Workplace } from './daemon.ts'

const catalog = `
feeds:
  shop: { drop: ./drop/shop, settle: 0s }
  letters:
    kind: consents
    drop: ./drop/letters
    settle: 0s
    format: { delimiter: ";", encoding: windows-1252 }
    fields: { email: Mail, consent: { column: Status, when: { A: true, R: false } } }
  app: { kind: consents, drop: ./drop/app, settle: 0s, files: "*.ndjson" }
`

interface SandboxConsents {
  timesTaken: number
  calls: { total: number }
  overlapping: { count: number }
  consents: { email: string; consent: boolean; times: number }[]
}

interface DeadConsent {
  id: string
  email: string
  consent: boolean
  reason: string
}

const letters = (...rows: string[]) => Buffer.from(`Name;Mail;Status\r\n${rows.join('\r\n')}\r\n`, 'latin1')
const ndjson = (...records: object[]) => `${records.map((each) => JSON.stringify(each)).join('\n')}\n`
const firstLetters = letters(
  'Jürgen;anna@person.example;A',
  'B;bob@person.example;A',
  'B;BOB@person.example;R',
)

describe('consents beside products, with a daemon', () => {
  let workplace: Workplace
  const daemons: { stderr: string }[] = []
  const printed: string[] = []

  const start = async () => {
    const daemon = await workplace.start()
    daemons.push(daemon)
    return daemon
  }
  /** Commands whose standard error must show no address, as the log must not. */
  const run = async (...args: string[]) => {
    const ran = await workplace.runHere(...args)
    printed.push(ran.stderr)
    return ran
  }
  const taken = async () =>
    (await (await fetch(`${workplace.sandbox.url}/sandbox/consents`)).json()) as SandboxConsents
  const timesOf = async (email: string) =>
    (await taken()).consents.find((each) => each.email.toLowerCase() === email)

  beforeAll(async () => {
    workplace = await Workplace.open(catalog, { hasConsents: true })
    await start()
  })
  afterAll(() => workplace?.[Symbol.asyncDispose]())

  it('one call for each address with the last state of several files, formats and a command', async () => {
    expect(await run('pause', '--consents')).toMatchObject({ code: 0 })
    await workplace.drop('letters', 'first.csv', firstLetters)
    await workplace.untilImported(1)
    await workplace.drop(
      'app',
      'app.ndjson',
      ndjson(
        { email: 'bob@person.example', consent: true },
        { email: 'Anna@Person.example', consent: 'opt-out' },
        { email: 'carl@person.example', consent: 'yes' },
        { email: 'nobody', consent: true },
      ),
    )
    await workplace.untilImported(2)
    expect(await run('consent', 'carl@person.example', 'false', '--no-wait')).toMatchObject({ code: 0 })
    await workplace.drop(
      'shop',
      'shop.csv',
      'product_id,name,url,image_url,availability,price,price_currency_code\np,N,https://a.example/p,https://a.example/i.jpg,InStock,1,EUR\n',
    )
    await workplace.untilTaken('p', 1)
    expect(await taken()).toMatchObject({ calls: { total: 0 } })
    const status = await run('status')
    expect(status.code).toBe(3)
    expect(status.stdout).toMatch(/consents {2}3, 3 not delivered yet/)
    expect(status.stdout).toContain('consents: paused (operator)')
    expect(await run('resume', '--consents')).toMatchObject({ code: 0 })
    await workplace.untilQuiet()
    const { consents, calls, overlapping } = await taken()
    expect(consents.map(({ email, consent, times }) => [email.toLowerCase(), consent, times]).sort()).toEqual(
      [
        ['anna@person.example', false, 1],
        ['bob@person.example', true, 1],
        ['carl@person.example', false, 1],
      ],
    )
    expect([calls.total, overlapping.count]).toEqual([3, 0])
  })

  it('no call for a file that says the same again', async () => {
    const before = (await taken()).calls.total
    const same = letters('x;ANNA@person.example;R', 'x;bob@person.example;A')
    await writeFile(workplace.path('same.csv'), same)
    const loaded = await workplace.ask<{ calls: number; unchanged: number }>(
      'load',
      'letters',
      workplace.path('same.csv'),
    )
    expect(loaded).toMatchObject({ calls: 0, unchanged: 2 })
    expect((await taken()).calls.total).toBe(before)
    expect(await run('load', 'letters', workplace.path('same.csv'), '--resend')).toMatchObject({ code: 2 })
    expect(await run('resync', '--consents')).toMatchObject({ code: 2 })
    const byAddress = await run('resync', 'anna@person.example')
    expect(byAddress.stderr).toContain('consents are never sent again')
  })

  it('a command that returns when the endpoint has taken it', async () => {
    const ran = await run('consent', 'anna@person.example', 'true')
    expect(ran).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Granted \(\S{22}\): the endpoint has/),
    })
    expect(await timesOf('anna@person.example')).toMatchObject({ consent: true, times: 2 })
  })

  it('dead letters that the operator sees by address, tries again, or gives up', async () => {
    const dora = 'dora@person.example'
    await workplace.fault({
      ...{ group: 'consent', status: 400, emails: [dora, 'emil@person.example'] },
      body: { message: `${dora} is blocked` },
    })
    const refused = await run('consent', dora, 'true')
    expect(refused.code).toBe(1)
    expect(refused.stdout).toContain('refused by the endpoint')
    expect(refused.stdout).toMatch(/catalogd dead retry --consents -- \S{22}$/m)
    expect(await run('consent', 'emil@person.example', 'true')).toMatchObject({ code: 1 })
    const dead = await workplace.ask<DeadConsent[]>('dead', 'list', '--consents')
    expect(dead.map(({ email }) => email)).toEqual([dora, 'emil@person.example'])
    expect((await run('status')).code).toBe(1)
    const shown = await workplace.ask<DeadConsent>('dead', 'show', dora.toUpperCase(), '--consents')
    expect(shown).toMatchObject({ id: dead[0]?.id, email: dora, consent: true })
    await fetch(`${workplace.sandbox.url}/sandbox/faults`, { method: 'DELETE' })
    expect(await run('dead', 'retry', '--consents', dora)).toMatchObject({ code: 0 })
    expect(await run('dead', 'drop', '--consents', '--', dead[1]?.id ?? '')).toMatchObject({ code: 0 })
    await workplace.untilQuiet()
    expect(await timesOf(dora)).toMatchObject({ consent: true, times: 1 })
    expect(await timesOf('emil@person.example')).toBeUndefined()
    expect(await workplace.ask('dead', 'list', '--consents')).toEqual([])
    expect(await run('dead', 'retry', '--consents', dora)).toMatchObject({ code: 1 })
  })

  it('no call after Redis lost everything', async () => {
    const [daemon] = daemons as Awaited<ReturnType<typeof start>>[]
    await daemon?.kill('SIGTERM')
    const before = (await taken()).calls.total
    await rm(workplace.path('state', 'redis'), { recursive: true })
    await start()
    expect(await run('consent', 'frieda@person.example', 'true')).toMatchObject({ code: 0 })
    await workplace.untilQuiet()
    expect((await taken()).calls.total).toBe(before + 1)
    expect(await timesOf('carl@person.example')).toMatchObject({ consent: false, times: 1 })
  })

  it('no address in any log, report or file but where files, rejects and consents are kept', async () => {
    const state = workplace.path('state', 'main')
    const kept = ['archive', 'failed', 'consents.db']
    const files = (await readdir(state, { recursive: true })).filter(
      (name) => !kept.some((folder) => name.startsWith(folder)) && !name.includes('.rejects.'),
    )
    const texts = await Promise.all(
      files.map(async (name) => {
        const path = join(state, name)
        return (await stat(path)).isFile() ? readFile(path, 'utf8') : ''
      }),
    )
    for (const text of [...texts, ...daemons.map(({ stderr }) => stderr), ...printed]) {
      expect(text).not.toMatch(/person\.example|person%2Eexample|anna|frieda/i)
    }
    for (const name of await readdir(state))
      if (name.startsWith('consents.db')) expect((await stat(join(state, name))).mode & 0o777).toBe(0o600)
  })
})

describe('the command consent, without a daemon', () => {
  let workplace: Workplace
  beforeAll(async () => {
    workplace = await Workplace.open('feeds: { shop: { drop: ./drop/shop } }', { hasConsents: true })
  })
  afterAll(() => workplace?.[Symbol.asyncDispose]())

  it('delivers by itself, and once only', async () => {
    const recorded = await workplace.ask<{ state: string }>('consent', 'gerd@person.example', 'false')
    expect(recorded).toMatchObject({ state: 'delivered', consent: false, refusal: null })
    expect(await workplace.ask('consent', 'GERD@person.example', 'false')).toMatchObject({
      state: 'delivered',
    })
    const held = await waitFor(() => fetch(`${workplace.sandbox.url}/sandbox/consents`))
    expect(await held.json()).toMatchObject({ timesTaken: 1, consents: [{ consent: false, times: 1 }] })
    const imports = await workplace.ask<{ feed: string }[]>('imports')
    expect(imports.map(({ feed }) => feed)).toEqual(['consent-command', 'consent-command'])
  })

  it('begins no new table where the one of its acknowledgements is missing', async () => {
    const database = workplace.path('state', 'main', 'consents.db')
    await rename(database, `${database}.away`)
    const refused = await workplace.runHere('consent', 'hilde@person.example', 'true')
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toMatch(/consents\.db is missing, although consents were accepted/)
    await expect(stat(database)).rejects.toThrow()
    await rename(`${database}.away`, database)
    expect(await workplace.runHere('consent', 'hilde@person.example', 'true')).toMatchObject({ code: 0 })
  })

  it('refuses what is no address or no decision, and shows neither', async () => {
    for (const args of [
      ['gerd at person.example', 'true'],
      ['gerd@person.example', 'perhaps'],
    ]) {
      const ran = await workplace.runHere('consent', ...args)
      expect(ran).toMatchObject({ code: 2, stdout: '' })
      expect(ran.stderr).not.toMatch(/gerd|perhaps/)
    }
  })
})
