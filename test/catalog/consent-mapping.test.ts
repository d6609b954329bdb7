import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkConsentRule, coerceConsent, compileConsentMapping } from '../../src/catalog/consent-mapping.ts'
import { Problem } from '../../src/catalog/problem.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { columnRule, feedOf } from './support.ts'

function bind(columns: readonly string[], fields: Record<string, FieldRule> = {}) {
  const binding = compileConsentMapping(feedOf(fields, { kind: 'consents' })).bind(columns)
  if (binding.kind !== 'bound') throw new Error(JSON.stringify(binding.missingColumns))
  return binding.bound
}

function read(cells: readonly unknown[], fields: Record<string, FieldRule> = {}) {
  return bind(['email', 'consent'], fields).map({ record: 3, line: 4, cells })
}

describe('words', () => {
  it.each([
    [
      true,
      ['true', 'TRUE', ' Yes ', 'y', 't', '1', 1, true, 'on', 'opt-in', 'Opt In', 'opted_in', 'granted'],
    ],
    [false, ['false', 'No', 'n', 'F', '0', 0, false, 'off', 'opt-out', 'OPTED OUT', 'unsubscribed']],
  ])('that mean %s', (consent, words) => {
    for (const word of words) expect(coerceConsent(word), String(word)).toBe(consent)
  })

  it('that mean nothing for sure are problems, which show words only', () => {
    for (const word of ['maybe', '2', 'ja', 'A', -1, 1.5, [], {}, 'anna@shop.example', 'x'.repeat(40)]) {
      expect(coerceConsent(word)).toBeInstanceOf(Problem)
    }
    expect(coerceConsent('perhaps')).toMatchObject({ text: expect.stringContaining('"perhaps"') })
    expect(coerceConsent('anna@shop.example')).toMatchObject({ text: expect.not.stringContaining('anna') })
  })
})

describe('records', () => {
  it('say who wants what', () => {
    expect(read([' Anna.B+x@Shop.example ', 'yes'])).toEqual({
      id: 'anna.b+x@shop.example',
      item: { email: 'Anna.B+x@Shop.example', consent: true },
      issues: [],
    })
    expect(read(['a@b', false]).item).toEqual({ email: 'a@b', consent: false })
  })

  it('are refused with every reason at once, and none shows the address', () => {
    const cells: [unknown, unknown, string[]][] = [
      ['', 'yes', ['email: found nothing, expected an e-mail address']],
      [undefined, '', ['email: found nothing', 'consent: found nothing, expected true or false']],
      [
        'Anna <anna@shop.example>',
        'perhaps',
        ['email: found a text (not shown)', 'consent: found the text "perhaps"'],
      ],
      [
        'anna@@shop.example',
        'anna@shop.example',
        ['email: found a text (not shown)', 'consent: found a value (not shown)'],
      ],
      [['anna@shop.example'], 'yes', ['email: found a text (not shown)']],
    ]
    for (const [email, consent, expected] of cells) {
      const { item, issues } = read([email, consent])
      expect(item).toBeUndefined()
      expect(issues.map(({ message }) => message)).toEqual(
        expected.map((part) => expect.stringContaining(part) as string),
      )
      for (const issue of issues) expect(issue).toMatchObject({ record: 3, line: 4, severity: 'reject' })
      expect(JSON.stringify(issues)).not.toMatch(/anna|shop/i)
    }
  })

  it('follow the rules of the feed', () => {
    const fields: Record<string, FieldRule> = {
      email: { ...columnRule('Mail'), pattern: { regex: 'mailto:(.+)', result: undefined } },
      consent: { ...columnRule('Status'), when: { A: true, R: false, '': false } },
    }
    const map = (cells: readonly unknown[]) =>
      bind(['Status', 'Mail'], fields).map({ record: 1, line: 2, cells })
    expect(map(['A', 'mailto:a@b.example']).item).toEqual({ email: 'a@b.example', consent: true })
    expect(map(['', 'mailto:a@b.example']).item).toEqual({ email: 'a@b.example', consent: false })
    for (const cells of [
      ['A', 'anna@shop.example'],
      ['anna@shop.example', 'mailto:anna@shop.example'],
    ]) {
      const { issues } = map(cells)
      expect(issues).toHaveLength(1)
      expect(JSON.stringify(issues)).not.toContain('anna')
    }
    const revoked = read(['a@b.example'], {
      email: columnRule('email'),
      consent: { from: { kind: 'value', value: false } },
    })
    expect(revoked.item?.consent).toBe(false)
  })

  it('have the same id in both passes, however the address is written', () => {
    const bound = bind(['consent', 'email'])
    const local = fc.stringMatching(/^[A-Za-z0-9.+_-]{1,20}$/)
    fc.assert(
      fc.property(local, fc.boolean(), (name, upper) => {
        const email = `${name}@Shop.Example`
        const written = ` ${upper ? email.toUpperCase() : email} `
        const { id } = bound.map({ record: 1, line: 1, cells: ['1', written] })
        expect(id).toBe(email.toLowerCase())
        expect(bound.idReader.read(bound.idReader.indices.map((index) => ['1', written][index]))).toBe(id)
      }),
    )
  })
})

describe('columns and rules', () => {
  it('that are missing are named, with a similar one that is no address', () => {
    const mapping = compileConsentMapping(feedOf({}, { kind: 'consents' }))
    expect(mapping.neededColumns).toEqual(['email', 'consent'])
    expect(mapping.bind(['e-mail', 'consent'])).toEqual({
      kind: 'missing-columns',
      missingColumns: [{ column: 'email', field: 'email', suggestion: 'e-mail' }],
    })
    expect(JSON.stringify(mapping.bind(['email@a.b', 'true']))).not.toContain('@')
  })

  it('that cannot work are problems of the configuration', () => {
    expect(checkConsentRule('consent', { ...columnRule('a'), when: { x: 'perhaps' } })).toEqual([
      expect.stringContaining('when "x": found the text "perhaps"'),
    ])
    expect(checkConsentRule('email', columnRule('a'))).toEqual([])
    expect(checkConsentRule('price', columnRule('a'))).toEqual([
      expect.stringContaining('no field of a consent'),
    ])
    const half = feedOf({ email: columnRule('a') }, { kind: 'consents' })
    expect(() => compileConsentMapping(half)).toThrow('fields do not map consent')
  })
})
