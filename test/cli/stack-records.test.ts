import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStackSite, type StackSite } from './stack-site.ts'

let site: StackSite
beforeAll(async () => {
  site = await openStackSite()
})
afterAll(() => site[Symbol.asyncDispose]())

const kinds = [
  {
    kind: 'rules',
    nameField: 'name',
    create: ['type=tile', 'enabled=1', 'trigger={"$or":[]}', 'action=[]'],
    change: ['enabled=false', { enabled: 0 }],
  },
  {
    kind: 'views',
    nameField: 'view_name',
    create: ['columns_tags_col=1'],
    change: ['sort_by=newest', { sort_by: 'newest' }],
  },
  {
    kind: 'terms',
    nameField: 'name',
    create: ['type=post', 'network=sta_feed', 'term=x'],
    change: ['tags=a,b', { tags: ['a', 'b'] }],
  },
] as const

describe.each(kinds)('stack $kind', ({ kind, nameField, create, change: [assignment, changed] }) => {
  it('creates, shows, changes, lists and deletes', async () => {
    const fields = [`${nameField}=One`, ...create].flatMap((field) => ['--set', field])
    const created = (await site.json(kind, 'create', ...fields)) as { id: number }
    const id = String(created.id)
    expect(created).toMatchObject({ [nameField]: 'One' })
    expect(await site.json(kind, 'get', id)).toMatchObject({ id: created.id, [nameField]: 'One' })
    expect((await site.stack([kind, 'get', id])).stdout).toContain(`${nameField}: One`)
    expect(await site.json(kind, 'update', id, '--set', assignment)).toMatchObject(changed)
    expect((await site.stack([kind, 'list'])).stdout).toMatch(/^id .*\n.*One/)

    const no = await site.stack([kind, 'delete', id], { answers: 'n\n' })
    expect(no.stderr).toMatch(/^Delete .* 1, "One"\? \[y\/N\]\nNothing was changed\.\n$/)
    expect((await site.stack([kind, 'delete', id])).exitCode).toBe(2)
    expect(await site.json(kind, 'list')).toHaveLength(1)
    expect((await site.stack([kind, 'delete', id], { answers: 'y\n' })).exitCode).toBe(0)
    expect(await site.json(kind, 'list')).toEqual([])
    expect(await site.stack([kind, 'get', id])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('answered 404'),
    })
  })
})

describe('stack users', () => {
  interface User {
    id: number
    email: string
  }

  it('lists all, or a page in an order', async () => {
    expect(await site.json('users', 'list')).toHaveLength(36)
    const page = (await site.json(
      'users',
      'list',
      '--page',
      '2',
      '--limit',
      '10',
      '--order-by',
      'email',
    )) as User[]
    const all = (await site.json('users', 'list', '--order-by', 'email')) as User[]
    expect(page).toEqual(all.slice(10, 20))
    const [last] = (await site.json(
      'users',
      'list',
      '--limit',
      '1',
      '--order-by',
      'id',
      '--direction',
      'desc',
    )) as User[]
    expect(last?.id).toBe(36)
  })

  it.each([
    [['users', 'list', '--limit', '101'], '--limit'],
    [['terms', 'list', '--limit', '101'], '--limit'],
    [['users', 'list', '--page', '0'], '--page'],
    [['users', 'list', '--order-by', 'surename'], 'id, name, email, surname, username, created'],
    [['users', 'list', '--direction', 'up'], 'asc, desc'],
    [['users', 'get', 'anna'], 'ids are whole numbers'],
    [['users', 'create', '--set', 'name=x'], "unknown command 'create'"],
    [['rules', 'list', '--limit', '10'], '--limit'],
    [['terms', 'update', '1'], 'no field is given'],
    [['terms', 'update', '1', '--file', '/none.yaml'], '/none.yaml cannot be read (ENOENT)'],
  ])('%j is a usage error', async (argv, message) => {
    const { exitCode, stderr } = await site.stack(argv)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('changes what a file and standard input say, and refuses the rest by name', async () => {
    const file = site.folder.join('user.yaml')
    await writeFile(file, 'surname: Kim\nacl_groups: [1, 2]\n')
    expect(await site.json('users', 'update', '2', '--file', file, '--set', 'surname=Lee')).toMatchObject({
      surname: 'Lee',
      acl_groups: [1, 2],
    })
    const argv = ['users', 'update', '2', '--file', '-']
    const { stdout } = await site.stack([...argv, '--json'], { input: '{"description":"from JSON"}' })
    expect(JSON.parse(stdout)).toMatchObject({ description: 'from JSON' })
    const wrong = await site.stack(argv, { input: 'display_timezone: Berlin\nusername: x\n' })
    expect(wrong.exitCode).toBe(1)
    expect(wrong.stderr).toContain('standard input:1:1 display_timezone: found the text "Berlin"')
    expect(wrong.stderr).toContain('standard input:2:1 username: found a field that cannot be written here')
  })

  it('cuts long values, and lets no control character reach the terminal', async () => {
    const name = `\u001b[31mred\u202e${'x'.repeat(100)}`
    await site.json('users', 'update', '3', '--set', `name=${name}`)
    const { stdout } = await site.stack(['users', 'list', '--limit', '3'])
    expect(stdout).toContain('\\u001b[31mred\\u202exxx')
    expect(stdout).not.toContain('\u001b')
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(180)
    const shown = await site.stack(['users', 'get', '3'])
    expect(shown.stdout).not.toContain('\u001b')
    expect(shown.stdout).not.toContain('\u202e')
  })
})

it('stack rules apply tells what became of the records', async () => {
  const { id } = (await site.json(
    'rules',
    'create',
    ...['name=All', 'type=asset', 'enabled=1', 'trigger={"$or":[{"tags":{"$exists":true}}]}'].flatMap(
      (field) => ['--set', field],
    ),
    '--set',
    'action=[{"type":"$addToSet","field":"tags","value":"applied"}]',
  )) as { id: number }
  const applied = (await site.json('rules', 'apply', String(id))) as Record<string, number>
  expect(applied.matched).toBeGreaterThan(0)
  const again = await site.stack(['rules', 'apply', String(id)])
  expect(again.stdout).toMatch(/^Applied rule \d+\.\n/)
  expect(again.stdout).toContain('changed: 0')
})
