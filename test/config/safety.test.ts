import { expect, it } from 'vitest'
import { problemsOf, read, withFeed } from './support.ts'

const feed = 'catalogs.main.feeds.products'

async function feedOf(lines: string) {
  const { loaded } = await read(withFeed(lines))
  return [...([...loaded.config.catalogs.values()][0]?.feeds.values() ?? [])][0]
}

it('what keeps bad files from doing damage reaches the stages, and is absent where it is not configured', async () => {
  const plain = await feedOf('')
  expect([plain?.verify, plain?.asOf, plain?.changes]).toEqual([undefined, undefined, undefined])
  expect(
    await feedOf('verify: count\nasOf: { column: at, date: unix }\nchanges: { atMost: 0.5 }'),
  ).toMatchObject({
    verify: 'count',
    asOf: { from: 'column', column: 'at', date: 'unix', zone: 'UTC' },
    changes: { atMost: { urgent: 0.5, new: 0.5, deferred: 0.5 } },
  })
  const named = await feedOf(
    'asOf: { name: "(?<stamp>\\\\d{8})", zone: Europe/Berlin }\nchanges: { atMost: { urgent: 50%, deferred: "0" } }',
  )
  expect(named).toMatchObject({ asOf: { from: 'name', regex: '(?<stamp>\\d{8})', zone: 'Europe/Berlin' } })
  expect(named?.changes).toEqual({ atMost: { urgent: 0.5, deferred: 0 } })
})

const cases: Record<string, { lines: string; expected: string[] }> = {
  'no side file of that kind': {
    lines: 'verify: sha1',
    expected: [`7:17 ${feed}.verify: found "sha1", expected one of md5, sha256, count`],
  },
  'a time from nowhere': {
    lines: 'asOf: {}',
    expected: [`7:15 ${feed}.asOf: found neither name nor column, expected one of them`],
  },
  'a time from both': {
    lines: 'asOf: { name: "(?<stamp>.*)", column: at }',
    expected: [`7:15 ${feed}.asOf: found both name and column, expected one of them`],
  },
  'an expression that is none': {
    lines: 'asOf: { name: "(?<stamp>" }',
    expected: [
      expect.stringMatching(/asOf\.name: found "\(\?<stamp>", which RE2 refuses: missing closing \)/),
    ],
  },
  'an expression without a day': {
    lines: 'asOf: { name: "(?<year>....)(?<month>..)" }',
    expected: [
      `7:23 ${feed}.asOf.name: expected the named group (?<stamp>…), or at least (?<year>…), (?<month>…) and (?<day>…)`,
    ],
  },
  'an unknown group': {
    lines: 'asOf: { name: "(?<date>.*)" }',
    expected: [
      `7:23 ${feed}.asOf.name: found the group date, expected only stamp, year, month, day, hour, minute, second`,
    ],
  },
  'a form and a zone that say nothing': {
    lines: 'asOf: { column: at, date: "DD.MM.", zone: Berlin }',
    expected: [
      `7:35 ${feed}.asOf.date: found "DD.MM." without a year, expected a form such as DD.MM.YYYY HH:mm, or unix`,
      `7:51 ${feed}.asOf.zone: found "Berlin", expected a time zone such as Europe/Berlin or UTC`,
    ],
  },
  'a limit of no lane': {
    lines: 'changes: { atMost: {} }',
    expected: [`7:28 ${feed}.changes.atMost: found no lane, expected at least one of urgent, new, deferred`],
  },
  'an unknown lane': {
    lines: 'changes: { atMost: { urgnt: 10% } }',
    expected: [
      expect.stringContaining(`${feed}.changes.atMost.urgnt: found an unknown key; did you mean "urgent"?`),
    ],
  },
}

for (const [name, { lines, expected }] of Object.entries(cases)) {
  it(name, async () => {
    expect(await problemsOf(withFeed(lines))).toEqual(expected)
  })
}
