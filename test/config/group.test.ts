import { describe, expect, it } from 'vitest'
import { groupProblems } from '../../src/catalog/group-links.ts'
import { problemsOf, read, withFeed } from './support.ts'

async function groupOf(group: string): Promise<unknown> {
  const { loaded } = await read(withFeed(`group: ${group}`))
  return [...(loaded.config.catalogs.values().next().value?.feeds.values() ?? [])][0]?.group
}

describe('group', () => {
  it.each<[string, unknown]>([
    ['true', { by: 'id' }],
    ['false', undefined],
    [
      '{ above: { ID: "", Kind: [Variant, 2] } }',
      {
        by: 'above',
        where: { ID: { values: [''], not: false }, Kind: { values: ['Variant', '2'], not: false } },
      },
    ],
    ['{ parent: Parent }', { by: 'parent', parent: 'Parent', names: [] }],
    [
      '{ parent: Parent, names: [SKU, "id:{ID}"] }',
      { by: 'parent', parent: 'Parent', names: ['SKU', 'id:{ID}'] },
    ],
    ['{ members: { column: list } }', { by: 'members', column: 'list', split: '|', names: [] }],
    [
      '{ members: { column: list, split: ";", pattern: "sku=([^,]+)" }, names: [sku] }',
      { by: 'members', column: 'list', split: ';', pattern: 'sku=([^,]+)', names: ['sku'] },
    ],
  ])('%s is understood', async (text, group) => {
    expect(await groupOf(text)).toEqual(group)
  })

  it.each<[string, RegExp]>([
    ['yes', /found "yes", expected true, or a mapping with parent, members or above/],
    ['{ names: [a] }', /found neither parent, members nor above, expected one of them/],
    ['{ parent: a, members: { column: b } }', /found parent and members, expected one of them/],
    ['{ parent: a, above: { b: "" } }', /found parent and above, expected one of them/],
    ['{ parent: a, name: [b] }', /unknown key; did you mean "names"\?/],
    ['{ members: { split: ";" } }', /group\.members\.column: is missing, expected the name of a column/],
  ])('%s is not', async (text, problem) => {
    const problems = await problemsOf(withFeed(`group: ${text}`))
    expect(problems.join('\n')).toMatch(problem)
    expect(problems).toHaveLength(1)
  })

  it('means nothing in a feed of consents', async () => {
    const problems = await problemsOf(withFeed('kind: consents\ngroup: true'))
    expect(problems.join('\n')).toMatch(/group: has no meaning in a feed of kind consents/)
  })

  it('has templates and patterns that are sound', () => {
    expect(groupProblems({ by: 'parent', parent: 'id:{ID', names: ['{}'] })).toHaveLength(2)
    expect(groupProblems({ by: 'members', column: 'c', split: '|', pattern: '(', names: [] })).toEqual([
      expect.stringMatching(/^pattern: RE2 refuses \(/),
    ])
  })
})
