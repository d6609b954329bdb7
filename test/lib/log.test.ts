import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ConfigError, EndpointError } from '../../src/lib/errors.ts'
import { openLog } from '../../src/lib/log.ts'
import { redactText, redactValue } from '../../src/lib/redact.ts'

function collect(options: { level?: 'info' | 'silent'; pretty?: boolean; isTTY?: boolean } = {}) {
  const written: string[] = []
  const stream = { write: (text: string) => written.push(text), isTTY: options.isTTY ?? false }
  const log = openLog({
    level: options.level ?? 'info',
    stream,
    ...(options.pretty === undefined ? {} : { pretty: options.pretty }),
  })
  const lines = () => written.map((text) => JSON.parse(text) as Record<string, unknown>)
  return { log, written, lines }
}

describe('openLog', () => {
  it('writes one JSON object a line with a level by name and an ISO time', () => {
    const { log, lines } = collect()
    log.info({ feed: 'products' }, 'accepted')
    const [line] = lines()
    expect(line).toMatchObject({ level: 'info', feed: 'products', msg: 'accepted', pid: process.pid })
    expect(new Date(String(line?.time)).toISOString()).toBe(line?.time)
  })

  it('is silent below its level', () => {
    const { log, written } = collect({ level: 'silent' })
    log.fatal('no')
    expect(written).toEqual([])
  })

  it('hides secrets by name, at any depth, in bindings and in texts', () => {
    const { log, written } = collect()
    const secret = 'hunter-2-secret'
    log
      .child({ apiToken: secret })
      .child({ password: secret })
      .info(
        {
          headers: { Authorization: `Basic ${secret}`, 'x-access-token': secret },
          product: { price: 3, supplier_cost: secret, skus: [{ supplierCost: secret }] },
          url: new URL(`https://user:${secret}@shop.example/a?access_token=${secret}&page=2`),
          redis: `redis://:${secret}@localhost:6379/0`,
        },
        `calling https://me:${secret}@shop.example with Bearer ${secret}`,
      )
    expect(written.join('')).not.toContain(secret)
    expect(written.join('')).toContain('page=2')
    expect(written.join('')).toContain('"price":3')
  })

  it('writes an operating error with code and hint and without anything a client attached', () => {
    const { log, lines } = collect()
    const cause = Object.assign(new Error('connect ECONNREFUSED'), {
      code: 'ECONNREFUSED',
      address: '127.0.0.1',
      headers: { authorization: 'Basic eHl6eHl6' },
      command: { args: ['a document'] },
    })
    log.error(
      { err: new EndpointError('endpoint-unreachable', 'no answer', { hint: 'Is it up?', cause }) },
      'call',
    )
    expect(lines()[0]?.err).toEqual({
      type: 'EndpointError',
      code: 'endpoint-unreachable',
      message: 'no answer',
      hint: 'Is it up?',
      cause: { type: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED', address: '127.0.0.1' },
    })
  })

  it('keeps the stack of a bug that Node gives a code, and not of what the system refuses', () => {
    const { log, lines } = collect()
    for (const run of [() => Buffer.alloc(-1), () => readFileSync('/none')]) {
      try {
        run()
      } catch (err) {
        log.error({ err }, 'failed')
      }
    }
    const [bug, refusal] = lines().map(({ err }) => err as { stack?: string; code: string })
    expect(bug).toMatchObject({ code: 'ERR_OUT_OF_RANGE', stack: expect.stringContaining('log.test.ts') })
    expect(refusal).toMatchObject({ code: 'ENOENT' })
    expect(refusal).not.toHaveProperty('stack')
  })

  it('keeps the stack of a bug and the members of an aggregate', () => {
    const { log, lines } = collect()
    log.error({ err: new AggregateError([new TypeError('inner'), 7], 'outer') })
    const err = lines()[0]?.err as { stack: string; errors: unknown[] }
    expect(err.stack).toContain('log.test.ts')
    expect(err.errors).toMatchObject([{ type: 'TypeError', message: 'inner' }, 7])
  })

  it('keeps what failed and what failed while it was released', () => {
    const { log, lines } = collect()
    log.error({ err: new SuppressedError(new Error('release'), new TypeError('work')) })
    const err = lines()[0]?.err as { errors: unknown[] }
    expect(err.errors).toMatchObject([{ message: 'release' }, { type: 'TypeError', message: 'work' }])
  })

  it('ends a chain of causes that refers to itself', () => {
    const { log, lines } = collect()
    const loop = new ConfigError('x', 'loop')
    loop.cause = loop
    log.error(loop)
    expect(lines()[0]?.msg).toBe('loop')
  })

  it('writes readable lines to a terminal', () => {
    const { log, written } = collect({ isTTY: true })
    log.warn({ feed: 'stock' }, 'late file')
    expect(written.join('')).toContain('late file')
    expect(() => JSON.parse(written.join(''))).toThrow()
  })
})

describe('redaction', () => {
  it('leaves ordinary texts and names alone', () => {
    for (const text of [
      'basic facts, key=5',
      'node_modules/pkg@6.7.0-beta.1/index.js and @scope/pkg',
      'redis://********@cache.example:6379',
      'product "A@B" of size XL@2',
      'at 50%40 of all',
      `${'x'.repeat(200_000)} without a host @ all`,
    ]) {
      expect(redactText(text)).toBe(text)
    }
    expect(redactValue({ tokens: 3, author: 'me', keys: ['a'] })).toEqual({
      tokens: 3,
      author: 'me',
      keys: ['a'],
    })
  })

  it('hides e-mail addresses, plain and in a URL, wherever they stand', () => {
    for (const email of [
      'anna.b+news@shop.example',
      "o'neil@mail.shop.co.uk",
      'jürgen@müller.example',
      'anna%40shop.example',
      'ANNA_1@SHOP.EXAMPLE',
    ]) {
      for (const around of [`<${email}>`, `to ${email}: no`, `"${email}",`, `/consent/${email}/true`]) {
        expect(redactText(around), around).not.toMatch(/anna|neil|rgen|shop|müller/i)
      }
    }
    expect(redactText('no mail to a@b.example, or c@d.example')).toBe('no mail to ********, or ********')
    const { log, written } = collect()
    log.warn({ file: 'anna@shop.example.csv', err: new Error('to anna@shop.example') }, 'anna@shop.example')
    expect(written.join('')).not.toContain('anna')
  })

  it('cuts deep and long values', () => {
    const long = redactValue(Array.from({ length: 60 }, (_, index) => index)) as unknown[]
    expect(long).toHaveLength(51)
    expect(JSON.stringify(redactValue({ a: { a: { a: { a: { a: { a: { a: 1 } } } } } } }))).toContain('…')
  })

  it('hides a supplier cost inside serialised documents', () => {
    expect(redactText('{"price":5,"supplier_cost":3.25,"name":"a"}')).toBe(
      '{"price":5,"supplier_cost":********,"name":"a"}',
    )
    expect(redactText('{\\"supplier_cost\\":\\"3.25\\"} supplier_cost=4')).toBe(
      '{\\"supplier_cost\\":\\"********\\"} supplier_cost=********',
    )
    expect(redactText('fields.supplier_cost: found nothing')).toBe('fields.supplier_cost: found nothing')
  })
})
