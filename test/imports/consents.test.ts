import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FeedName } from '../../src/lib/brand.ts'
import { waitFor } from '../support/events.ts'
import { openConsentImports } from './consent-harness.ts'

const feeds = `shop: { drop: ./drop/shop }
letters:
  kind: consents
  drop: ./drop/letters
  format: { delimiter: ";", encoding: windows-1252 }
  fields: { email: Mail, consent: { column: Status, when: { A: true, R: false } } }
app: { kind: consents, drop: ./drop/app }`

let imports: Awaited<ReturnType<typeof openConsentImports>>
beforeAll(async () => {
  imports = await openConsentImports(feeds)
})
afterAll(() => imports?.[Symbol.asyncDispose]())

const letters = (...rows: string[]) =>
  Buffer.from(`${['Name;Mail;Status', ...rows].join('\r\n')}\r\n`, 'latin1')
const ndjson = (...records: unknown[]) => `${records.map((each) => JSON.stringify(each)).join('\n')}\n`

describe('files of consents', () => {
  it('let the last row of an address win, in any spelling, and report what they changed', async () => {
    const report = await imports.import(
      'letters',
      letters(
        'Jürgen;Anna@shop.example;A',
        'x;bob@shop.example;R',
        'x;ANNA@shop.example;R',
        'x;bob@shop.example;A',
      ),
    )
    expect(report).toMatchObject({
      kind: 'consents',
      outcome: 'imported',
      records: 4,
      rejected: 0,
      mode: 'delta',
    })
    expect(report.changes).toMatchObject({ added: 2, changed: 0, urgent: 1, new: 1, superseded: 2 })
    expect(imports.stored('anna@SHOP.example')).toEqual({
      email: 'ANNA@shop.example',
      consent: false,
      lane: 0,
    })
    expect(imports.stored('bob@shop.example')).toMatchObject({ consent: true, lane: 1 })
  })

  it('change nothing the second time', async () => {
    const rows = letters('x;ANNA@shop.example;R', 'x;bob@shop.example;A')
    const report = await imports.import('letters', rows, 'again.csv')
    expect(report).toMatchObject({ unchanged: 2, changes: { added: 0, changed: 0, urgent: 0, new: 0 } })
  })

  it('of several feeds count in the order in which they were accepted', async () => {
    const report = await imports.import(
      'app',
      ndjson(
        { email: 'bob@shop.example', consent: 'opt-out' },
        { consent: true, email: 'carl@shop.example' },
      ),
      'app.ndjson',
    )
    expect(report.changes).toMatchObject({ added: 1, changed: 1, urgent: 1, new: 1 })
    expect(imports.stored('bob@shop.example')).toMatchObject({ consent: false, lane: 0 })
    await imports.import(
      'consent-command',
      ndjson({ email: 'bob@shop.example', consent: true }),
      'one.ndjson',
    )
    expect(imports.stored('bob@shop.example')).toMatchObject({ consent: true })
  })

  it('name the lines that say nothing and show no address, but in the file of rejects', async () => {
    const text = `${ndjson({ email: 'dora@shop.example', consent: 'perhaps' }, { email: 'dora.shop.example', consent: 1 })}{"email":"dora@shop.example","con\n"dora@shop.example"\n${ndjson({ consent: true }, { email: 'emil@shop.example', consent: 'yes' })}`
    const report = await imports.import('app', text, 'bad.ndjson')
    expect(report).toMatchObject({ outcome: 'imported', records: 6, rejected: 5, changes: { added: 1 } })
    expect(report.problems.map(({ code, examples }) => [code, examples[0]?.line])).toEqual(
      expect.arrayContaining([
        ['not-a-consent', 1],
        ['not-an-email', 2],
        ['not-json', 3],
        ['required-empty', 5],
      ]),
    )
    expect(JSON.stringify(report)).not.toMatch(/dora|emil/)
    const rejects = await readFile(report.rejectsFile ?? '', 'utf8')
    expect(rejects).toContain('"dora@shop.example"')
    expect(JSON.parse(rejects.split('\n')[0] ?? '').catalogd_reason).not.toContain('dora')
    expect(imports.stored('dora@shop.example')).toBeUndefined()
  })

  it('can be corrected in the file of rejects and dropped again', async () => {
    const bad = await imports.import('letters', letters('Grün;fritz@shop.example;?'), 'bad.csv')
    const rejects = await readFile(bad.rejectsFile ?? '', 'latin1')
    expect(rejects).toContain('Grün;fritz@shop.example;?')
    const fixed = Buffer.from(rejects.replace(';?', ';A'), 'latin1')
    expect(await imports.import('letters', fixed, 'fixed.csv')).toMatchObject({
      rejected: 0,
      changes: { added: 1 },
    })
  })

  it('without a header are refused whole, and their first line is not repeated', async () => {
    const report = await imports.import(
      'letters',
      Buffer.from('gerd@shop.example;A\nhans@shop.example;R\n'),
      'bare.csv',
    )
    expect(report.outcome).toBe('refused')
    expect(report.reason).toContain('the header has no column "Mail" (for email); "Status" (for consent)')
    expect(JSON.stringify(report)).not.toMatch(/gerd|hans/)
  })
})

describe('the separation of the kinds', () => {
  it('keeps consents out of the products, and each kind at its own place in the manifest', async () => {
    expect([...imports.mirror.pages(), ...imports.mirror.applied('letters' as FeedName)]).toEqual([])
    const applied = ['app', 'consent-command', 'letters'].map((feed) => imports.consents.applied(feed))
    expect(applied.every((sequence) => sequence > 0)).toBe(true)
    expect(await imports.redis.keys('*consents*')).toEqual([])
  })

  it('pauses one kind, or both', async () => {
    const pausedOf = async () => ({
      products: imports.mirror.calls()?.decision === 'pause' ? 1 : 0,
      consents: imports.consents.calls.pauses.operator ? 1 : 0,
    })
    const until = (products: number, consents: number) =>
      waitFor(
        async () => {
          const paused = await pausedOf()
          return paused.products === products && paused.consents === consents
        },
        { what: `paused: ${products} ${consents}` },
      )
    await imports.decide({ decision: 'pause', of: 'consents' })
    await until(0, 1)
    await imports.decide({ decision: 'pause' })
    await until(1, 1)
    await imports.decide({ decision: 'resume', of: 'products' })
    await until(0, 1)
    await imports.decide({ decision: 'resume' })
    await until(0, 0)
  })
})

describe('the log', () => {
  it('shows no address', () => {
    expect(imports.lines.length).toBeGreaterThan(5)
    expect(JSON.stringify(imports.lines)).not.toMatch(/@|anna|bob|carl|dora|emil|fritz|gerd/i)
    expect(imports.failures).toEqual([])
  })
})
