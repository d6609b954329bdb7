import { describe, expect, it } from 'vitest'
import { parseFile } from '../../src/stack/files.ts'
import type { StackKind } from '../../src/stack/model.ts'
import { parseInput } from '../../src/stack/parse-input.ts'
import { noRecords, parse, pulled } from './memory-stack.ts'

function problemsOf(kind: StackKind, text: string): string[] {
  const { problems } = parseFile(kind, { file: 'f.yaml', text })
  return problems.map(({ place, message }) => `${place?.file}:${place?.line}:${place?.column} ${message}`)
}

describe('a file', () => {
  it('keeps texts that look like numbers as they are written', () => {
    const text =
      '- name: 0049\n  term: 1e3\n  source_user_id: 12345678901234567890\n  filter: 1.10\n  num_of_backfill: 010\n'
    expect(parse('terms', text)[0]?.fields).toEqual({
      name: '0049',
      term: '1e3',
      source_user_id: '12345678901234567890',
      filter: '1.10',
      num_of_backfill: 10,
    })
  })

  it('brings texts back that end with empty lines, wherever they stand', () => {
    const term = { type: 'post', network: 'sta_feed', term: 'end\n\n' }
    const records = ['a', 'b'].map((name, id) => ({ id, name, ...term }))
    const items = pulled({ ...noRecords, terms: records }, ['terms']).terms ?? []
    expect(items.map(({ fields }) => fields.term)).toEqual(['end\n\n', 'end\n\n'])
  })

  it('takes aliases', () => {
    const text = '- { name: a, tags: &tags [x, y] }\n- name: b\n  tags: *tags\n'
    expect(parse('terms', text).map(({ fields }) => fields.tags)).toEqual([
      ['x', 'y'],
      ['x', 'y'],
    ])
  })

  it('empties with nothing and with an empty text alike', () => {
    const [item] = parse('terms', '- name: a\n  tags:\n  filter: ""\n  display_name: ~\n')
    expect(item?.fields).toEqual({ name: 'a', tags: [], filter: '', display_name: '' })
  })

  it.each([
    ['', 'f.yaml:1:1 found nothing, expected a list of terms; write [] when there is none'],
    ['# only this\n', 'f.yaml:1:1 found nothing, expected a list of terms; write [] when there is none'],
    ['name: a\n', 'f.yaml:1:1 found a mapping, expected a list of terms'],
    ['- a\n', 'f.yaml:1:3 found a single value, expected a term with its fields'],
    ['- name: a\n- [b]\n', 'f.yaml:2:3 found a list, expected a term with its fields'],
    ['- term: a\n', 'f.yaml:1:3 name: found none, expected the name of the term'],
    ['- term: x\n  name: [a]\n', 'f.yaml:2:3 name: found one that is no text'],
    ['- name: a\n  name: b\n', 'f.yaml:2:3 found the same field twice'],
    ['- name: a\n---\n- name: b\n', 'f.yaml:2:1 found a second document after ---, expected one list'],
    ['- name: "a\n', 'f.yaml:2:1 not valid YAML'],
  ])('says where %j is wrong', (text, begin) => {
    const [first = ''] = problemsOf('terms', text)
    expect(first.startsWith(begin), first).toBe(true)
  })

  it('does not follow aliases that grow without end', () => {
    const levels = Array.from(
      { length: 12 },
      (_, at) => `  t${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`,
    )
    expect(problemsOf('terms', `- name: x\n  t0: &a0 [x]\n${levels.join('\n')}\n`)[0]).toContain(
      'not usable YAML',
    )
  })
})

describe('the input of a single record', () => {
  const rules = { kind: 'rules', action: 'create' } as const

  it('brings assignments into the form of the contract', () => {
    const assignments = ['name=a=b', 'type=tile', 'enabled=true', 'trigger={"$or":[]}', 'action=[]']
    expect(parseInput({ ...rules, assignments })).toEqual({
      name: 'a=b',
      type: 'tile',
      enabled: 1,
      trigger: { $or: [] },
      action: [],
    })
    expect(parseInput({ kind: 'terms', action: 'update', assignments: ['tags=a,b', 'filter='] })).toEqual({
      tags: ['a', 'b'],
      filter: '',
    })
  })

  it('takes YAML, and assignments before it', () => {
    const source = { file: 'u.yaml', text: 'name: A\nacl_groups: 1\n' }
    const assignments = ['name=B']
    expect(parseInput({ kind: 'users', action: 'update', source, assignments })).toEqual({
      name: 'B',
      acl_groups: [1],
    })
  })

  it.each([
    [[], undefined, 'no field is given'],
    [['name'], undefined, '--set: found "name", expected field=value'],
    [['nam=x'], undefined, 'nam: found a field that the contract does not have, expected name'],
    [[], 'name: x\nid: 3\n', 'f.yaml:2:1 id: found a field that cannot be written here'],
    [[], '- name: x\n', 'f.yaml:1:1 found a list, expected a user with its fields'],
    [['email=no address'], undefined, 'email: found a text (value not shown), expected an e-mail address'],
  ])('refuses %j %j', (assignments, text, message) => {
    const source = text === undefined ? undefined : { file: 'f.yaml', text }
    const run = () => parseInput({ kind: 'users', action: 'update', source, assignments })
    expect(run).toThrow(message)
  })
})
