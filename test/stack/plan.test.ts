import { describe, expect, it } from 'vitest'
import type { Fields, StackKind, StackPlan } from '../../src/stack/model.ts'
import { planStack } from '../../src/stack/plan.ts'
import { existingOf, noRecords, parse, type Records } from './memory-stack.ts'

const term = { id: 7, name: 'shoes', type: 'search', network: 'twitter', term: 'shoes' }
const rule = { id: 3, name: 'Pans', trigger: { $or: [] }, action: [], enabled: 1, type: 'tile' }
const user = { id: 1, username: 'anna', name: 'Anna', email: 'anna@stack.example', acl_groups: '2,3' }

interface Given extends Partial<Records> {
  prune?: boolean
}

/** A plan over files as people write them; kinds without a text have no file. */
function plan(files: Partial<Record<StackKind, string>>, { prune = false, ...service }: Given = {}) {
  const desired = Object.entries(files).map(([kind, text]) => [kind, parse(kind as StackKind, text)])
  return planStack({
    desired: Object.fromEntries(desired),
    existing: existingOf({ ...noRecords, ...service }),
    prune,
  })
}

function planned(...given: Parameters<typeof plan>): StackPlan {
  const outcome = plan(...given)
  if (outcome.kind === 'problems') throw new Error(JSON.stringify(outcome.problems))
  return outcome.plan
}

function problems(...given: Parameters<typeof plan>): string[] {
  const outcome = plan(...given)
  if (outcome.kind === 'plan') throw new Error('there is a plan')
  return outcome.problems.map(({ place, message }) =>
    place === undefined ? message : `${place.file}:${place.line}:${place.column} ${message}`,
  )
}

const yaml = (...items: Fields[]) => JSON.stringify(items)

describe('a plan', () => {
  it('creates what only the files have, terms before views before rules', () => {
    const { steps } = planned({
      rules: yaml({ name: 'R', trigger: { $or: [] }, action: [], enabled: true, type: 'tile' }),
      views: yaml({ view_name: 'V' }),
      terms: yaml({ name: 'T', type: 'post', network: 'sta_feed', term: 'x' }),
    })
    expect(steps.map(({ action, kind, name }) => `${action} ${kind} ${name}`)).toEqual([
      'create terms T',
      'create views V',
      'create rules R',
    ])
    // The contract's form: 1 for true.
    expect(steps[2]).toMatchObject({ fields: { enabled: 1 } })
  })

  it('changes only the fields that differ, and leaves alone what a file does not name', () => {
    const service = { terms: [{ ...term, filter: 'a', active: '1' }] }
    const { steps, unchanged } = planned(
      { terms: '- name: shoes\n  active: true\n  term: boots\n  filter: ""\n' },
      service,
    )
    expect(steps).toEqual([
      {
        action: 'update',
        kind: 'terms',
        name: 'shoes',
        id: 7,
        changes: [
          { field: 'term', before: 'shoes', after: 'boots' },
          { field: 'filter', before: 'a', after: '' },
        ],
        fields: { term: 'boots', filter: '' },
      },
    ])
    expect(unchanged).toBe(0)
  })

  it('replaces a term whose fixed field differs, with what it had and may still have', () => {
    const service = {
      terms: [{ ...term, minimum_followers: 5, moderate_text: 'queue', filter: '' }],
      views: [{ id: 9, view_name: 'Queue', filter: { terms: '5,7' } }],
    }
    const files = { terms: yaml({ name: 'shoes', type: 'location' }), views: yaml({ view_name: 'Queue' }) }
    const { steps, warnings } = planned(files, service)
    expect(steps).toEqual([
      {
        action: 'replace',
        kind: 'terms',
        name: 'shoes',
        id: 7,
        changes: [
          { field: 'type', before: 'search', after: 'location', createOnly: true },
          { field: 'minimum_followers', before: 5, after: undefined },
        ],
        fields: {
          name: 'shoes',
          type: 'location',
          network: 'twitter',
          term: 'shoes',
          moderate_text: 'queue',
        },
      },
    ])
    expect(warnings).toEqual(['moderation view "Queue" filters by term 7 ("shoes"), which will be gone'])
  })

  it('deletes only with prune, last, never users, and nothing of a kind without a file', () => {
    const service = { rules: [rule], terms: [term], users: [user], views: [{ id: 2, view_name: 'V' }] }
    const files = { terms: '[]', users: '[]', rules: yaml({ ...rule, id: undefined, name: 'New' }) }
    const without = planned(files, service)
    expect(without.steps.map(({ action }) => action)).toEqual(['create'])
    expect(without.notInFiles).toEqual([
      { kind: 'rules', id: 3, name: 'Pans' },
      { kind: 'terms', id: 7, name: 'shoes' },
      { kind: 'users', id: 1, name: 'anna' },
    ])
    const pruning = planned(files, { ...service, prune: true })
    expect(pruning.steps.map(({ action, kind, name }) => `${action} ${kind} ${name}`)).toEqual([
      'create rules New',
      'delete rules Pans',
      'delete terms shoes',
    ])
    expect(pruning.notInFiles).toEqual([{ kind: 'users', id: 1, name: 'anna' }])
  })

  it('knows a user by the username, and one whose entry has none by the e-mail address', () => {
    const byName = '- username: anna\n  email: new@stack.example\n  acl_groups: [3, "2"]\n'
    expect(planned({ users: byName }, { users: [user] }).steps).toMatchObject([
      { action: 'update', id: 1, fields: { email: 'new@stack.example' } },
    ])
    const byEmail = '- email: anna@stack.example\n  name: Anne\n'
    expect(planned({ users: byEmail }, { users: [user] }).steps).toMatchObject([
      { action: 'update', id: 1, fields: { name: 'Anne' } },
    ])
  })

  it('looks at fields beyond the contract only where the service has them and the file names them', () => {
    const service = { rules: [{ ...rule, priority: 2, owner: 'x' }] }
    expect(planned({ rules: yaml({ name: 'Pans' }) }, service).steps).toEqual([])
    expect(planned({ rules: yaml({ name: 'Pans', priority: 3 }) }, service).steps).toMatchObject([
      { fields: { priority: 3 } },
    ])
  })

  it('tells what no file can speak of', () => {
    const { unnamed, notInFiles } = planned(
      { terms: '[]' },
      { terms: [{ ...term, name: null }], prune: true },
    )
    expect(unnamed).toEqual([{ kind: 'terms', id: 7, name: '' }])
    expect(notInFiles).toEqual([])
  })

  it('takes a follower count of 0 where none is possible for none', () => {
    const service = { terms: [{ ...term, type: 'user', source_user_id: '1', minimum_followers: 0 }] }
    expect(existingOf({ ...noRecords, ...service }).terms?.[0]?.fields).not.toHaveProperty(
      'minimum_followers',
    )
  })

  it('leaves alone what the service has against the contract, while the file says the same', () => {
    const service = { terms: [{ ...term, moderate_text: 'archive' }] }
    const file = { name: 'shoes', moderate_text: 'archive' }
    expect(planned({ terms: yaml(file) }, service).steps).toEqual([])
    expect(problems({ terms: yaml({ ...file, moderate_text: 'archived' }) }, service)).toHaveLength(1)
  })
})

describe('instead of a plan', () => {
  it('names both of two items of one name, in the files by place, at the service by id', () => {
    const files = '- name: shoes\n  term: a\n\n- name: shoes\n  term: b\n'
    expect(problems({ terms: files }, { terms: [term, { ...term, id: 8 }] })).toEqual([
      'the service has 2 terms named "shoes" (ids 7, 8), expected one; rename or delete all but one, with catalogd stack terms update|delete <id>',
      'terms.yaml:4:3 found a second term named "shoes", the first stands in line 1; rename or remove one',
    ])
  })

  it('names a user that does not exist, and one that is meant twice', () => {
    expect(problems({ users: '- username: bert\n  name: Bert\n' }, { users: [user] })).toEqual([
      expect.stringMatching(/^users\.yaml:1:3 the service has no user "bert"; users are invited/),
    ])
    const twice = '- username: anna\n- email: anna@stack.example\n'
    expect(problems({ users: twice }, { users: [user] })).toEqual([
      expect.stringMatching(/^users\.yaml:2:3 found the user of users\.yaml:1:3 again/),
    ])
    const unclear = [user, { ...user, id: 2, username: 'anna2' }]
    expect(problems({ users: '- email: anna@stack.example\n' }, { users: unclear })).toEqual([
      expect.stringContaining('found several users of this address'),
    ])
  })

  it.each([
    [
      'an unknown field, with the one that is near',
      '- name: shoes\n  netwerk: rss\n',
      'terms.yaml:2:3 netwerk: found a field',
      'expected network',
    ],
    [
      'a wrong value',
      '- name: shoes\n  moderate_text: hide\n',
      'terms.yaml:2:3 moderate_text: found the text "hide"',
      'publish, queue',
    ],
    [
      'a field that cannot be emptied',
      '- name: shoes\n  active:\n',
      'terms.yaml:2:3 active: found null',
      'true, false',
    ],
    [
      'a field that the service keeps',
      '- name: shoes\n  id: 3\n',
      'terms.yaml:2:3 id: found a field that cannot be written',
      'leave it out',
    ],
    [
      'a missing field of a new item',
      '- name: boots\n  type: search\n  term: x\n',
      'terms.yaml:1:3 network: found nothing',
      'twitter',
    ],
    [
      'a term that would break a rule',
      '- name: shoes\n  type: user\n',
      'terms.yaml:1:3 source_user_id: found nothing',
      'needs',
    ],
  ])('refuses %s, with its place', (_, text, begin, within) => {
    const [first = '', ...more] = problems({ terms: text }, { terms: [{ ...term, active: 1 }] })
    expect(first.startsWith(begin), first).toBe(true)
    expect(first).toContain(within)
    expect(more).toEqual([])
  })

  it('finds what an update would break over fields of which it names only one', () => {
    const service = { terms: [{ ...term, type: 'user', source_user_id: '12' }] }
    expect(problems({ terms: yaml({ name: 'shoes', source_user_id: '' }) }, service)).toEqual([
      expect.stringContaining('source_user_id: found nothing'),
    ])
    // Broken already, and not by this change.
    const broken = { terms: [{ ...term, network: 'rss' }] }
    expect(planned({ terms: yaml({ name: 'shoes', term: 'x' }) }, broken).steps).toHaveLength(1)
  })
})
