import { expect, it } from 'vitest'
import { wrapLines } from '../../src/cli/table.ts'

it('long lines are broken between words, and what goes on is marked', () => {
  const text = 'short\n    held since noon, removals of export.csv: 1432 of 3032 products are missing'
  expect(wrapLines(text, 40)).toBe(
    [
      'short',
      '    held since noon, removals of',
      '      ↳ export.csv: 1432 of 3032',
      '      ↳ products are missing',
    ].join('\n'),
  )
})

it('a word that is too long alone stays whole, and wide letters count twice', () => {
  const path = `/state/${'x'.repeat(40)}`
  expect(wrapLines(`the file ${path} is gone`, 20)).toBe(`the file\n  ↳ ${path}\n  ↳ is gone`)
  expect(wrapLines('卓上ランプ 卓上ランプ', 20)).toBe('卓上ランプ\n  ↳ 卓上ランプ')
})

it('no text of others begins a line as ours do', () => {
  const forged = `name ${'x'.repeat(30)} redis     up at nowhere`
  expect(wrapLines(forged, 36)).not.toMatch(/^\s*redis/m)
})
