import { readdir, readFile, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { InterruptedError } from '../../src/cli/interrupts.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openStackSite, type StackSite } from './stack-site.ts'
import { runCli } from './support.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const names = ['moderation-views.yaml', 'rules.yaml', 'terms.yaml', 'users.yaml']

const rule = [
  'name=Pans',
  'type=tile',
  'enabled=1',
  'trigger={"$or":[{"tags":{"$eq":"pan"}}]}',
  'action=[{"type":"$set","field":"status","value":"queue"}]',
]
const view = [
  'view_name=Queue',
  'columns_tags_col=true',
  'filter_value_terms=1,2',
  'date_range_from=2026-03-01T08:00:00Z',
]
const term = ['name=pans', 'type=hashtag', 'network=instagram', 'term=pans', 'tags=a,b', 'active=1']

const sets = (fields: readonly string[]) => fields.flatMap((field) => ['--set', field])

/** One of each kind that can be created, and a changed user. */
async function fill({ json }: StackSite): Promise<void> {
  await json('rules', 'create', ...sets(rule))
  await json('views', 'create', ...sets(view))
  await json('terms', 'create', ...sets(term))
  await json('users', 'update', '1', '--set', 'description=', '--set', 'acl_groups=1,3')
}

async function readFiles(dir: string): Promise<string[]> {
  return Promise.all(names.map((name) => readFile(`${dir}/${name}`, 'utf8')))
}

describe('stack pull, plan and apply', () => {
  it('reproduce a Stack at a second service with the same users', async () => {
    await using source = await openStackSite()
    await using target = await openStackSite()
    await fill(source)
    await target.json('users', 'update', '1', '--set', 'description=other', '--set', 'distances=imperial')
    const dir = source.folder.join('stack')
    const pulled = await source.stack(['pull', '--dir', dir])
    expect(pulled).toMatchObject({ exitCode: 0, stderr: '' })
    expect((await readdir(dir)).sort()).toEqual(names)
    expect(await source.json('plan', '--dir', dir, '--prune')).toMatchObject({ steps: [], notInFiles: [] })

    const planned = await target.stack(['plan', '--dir', dir, '--exit-code'])
    expect(planned.exitCode).toBe(1)
    expect(planned.stdout).toContain('~ change   user "aokafor1" (id 1)')
    expect(planned.stdout).toContain('description: "other" → ""')
    expect(planned.stdout).toContain('3 to create, 1 to change, 35 unchanged.')
    const applied = await target.stack(['apply', '--dir', dir, '--yes'])
    expect(applied).toMatchObject({ exitCode: 0 })
    expect(applied.stdout).toContain('Done: 4 steps.')

    expect((await target.stack(['plan', '--dir', dir, '--exit-code'])).exitCode).toBe(0)
    const again = target.folder.join('again')
    expect((await target.stack(['pull', '--dir', again])).exitCode).toBe(0)
    expect(await readFiles(again)).toEqual(await readFiles(dir))
  })

  it('carry 2,000 terms through a rate limit', { timeout: 300_000 }, async () => {
    await using target = await openStackSite({ rate: { requests: 800, perMs: 8_000 } })
    const dir = target.folder.join('stack')
    await target.stack(['pull', '--dir', dir])
    const terms = Array.from({ length: 2_000 }, (_, at) => ({
      name: `term ${at}`,
      type: 'search',
      network: 'twitter',
      term: `word${at}`,
      active: at % 2 === 0,
      filter: 'a, b',
    }))
    await writeFile(`${dir}/terms.yaml`, JSON.stringify(terms))
    const applied = await target.stack(['apply', '--dir', dir, '--yes'])
    expect(applied.exitCode).toBe(0)
    expect(applied.stdout).toContain('Done: 2,000 steps.')
    expect(applied.stderr).toContain('The service allows no more calls for')
    expect(await target.json('plan', '--dir', dir, '--prune')).toMatchObject({ steps: [], unchanged: 2_036 })
    // What it pulls now is as good as what was written by hand.
    await target.stack(['pull', '--dir', dir])
    expect(await target.json('plan', '--dir', dir, '--prune')).toMatchObject({ steps: [], unchanged: 2_036 })
  })

  it('asks first, in so many words where something is lost', async () => {
    await using site = await openStackSite()
    await fill(site)
    const dir = site.folder.join('stack')
    await site.stack(['pull', '--dir', dir])
    await writeFile(`${dir}/terms.yaml`, '- name: pans\n  term: pots\n')
    const apply = ['apply', '--dir', dir]
    const termNow = async () => (await site.json('terms', 'list')) as Record<string, unknown>[]

    const nobody = await site.stack(apply)
    expect(nobody.exitCode).toBe(2)
    expect(nobody.stderr).toContain('Give --yes')
    const no = await site.stack(apply, { answers: '\n' })
    expect(no).toMatchObject({ exitCode: 0, stderr: 'Do 1 step? [y/N]\nNothing was changed.\n' })
    expect((await site.stack(apply, { answers: '' })).stderr).toContain('Nothing was changed.')
    expect(await termNow()).toMatchObject([{ id: 1, term: 'pans' }])
    expect((await site.stack(apply, { answers: 'y\n' })).stdout).toContain('Done: 1 step.')
    expect(await termNow()).toMatchObject([{ id: 1, term: 'pots' }])

    await writeFile(`${dir}/terms.yaml`, '- name: pans\n  network: twitter\n')
    const short = await site.stack(apply, { answers: 'y\n' })
    expect(short.stdout).toContain('± replace  term "pans" (id 1): deleted and created again')
    expect(short.stderr).toContain('This deletes 1 item and creates it again under another id. It cannot be')
    expect(short.stderr).toContain('Nothing was changed.')
    expect((await site.stack(apply, { answers: 'yes\n' })).exitCode).toBe(0)
    const [replaced, ...others] = await termNow()
    expect(replaced).toMatchObject({ id: 2, network: 'twitter', term: 'pots', tags: ['a', 'b'] })
    expect(others).toEqual([])
  })

  it('deletes with --prune only, and never users', async () => {
    await using site = await openStackSite()
    await fill(site)
    const dir = site.folder.join('stack')
    await site.stack(['pull', '--dir', dir])
    for (const name of names) await writeFile(`${dir}/${name}`, '[]\n')
    expect((await site.stack(['apply', '--dir', dir, '--yes'])).stdout).toContain('Nothing to do')
    const pruned = await site.stack(['apply', '--dir', dir, '--prune', '--yes', '--json'])
    expect(JSON.parse(pruned.stdout)).toMatchObject({ done: 3, failed: [], notTried: [] })
    expect(await site.json('rules', 'list')).toEqual([])
    expect(await site.json('users', 'list')).toHaveLength(36)
  })

  it('goes on after an error, reports it, and does the rest when it runs again', async () => {
    await using site = await openStackSite()
    const dir = site.folder.join('stack')
    await site.stack(['pull', '--dir', dir])
    const item = (name: string) => ({ name, type: 'post', network: 'sta_feed', term: 'x' })
    await writeFile(`${dir}/terms.yaml`, JSON.stringify(['a', 'b', 'c'].map(item)))
    await writeFile(
      `${dir}/rules.yaml`,
      '- { name: R, type: tile, enabled: 1, action: [], trigger: { $or: [ { $where: "1" } ] } }\n',
    )
    const first = await site.stack(['apply', '--dir', dir, '--yes'])
    expect(first.exitCode).toBe(1)
    expect(first.stdout).toContain('failed: create rule "R": POST')
    expect(first.stdout).toContain('$where')
    expect(first.stdout).toContain('3 steps done, 1 failed.')
    await writeFile(`${dir}/rules.yaml`, '[]\n')
    expect(await site.json('plan', '--dir', dir)).toMatchObject({ steps: [] })
  })

  it('ends early when the service is gone, with exit code 3', async () => {
    await using site = await openStackSite()
    const dir = site.folder.join('stack')
    await site.stack(['pull', '--dir', dir])
    const item = (name: string) => ({ name, type: 'post', network: 'sta_feed', term: 'x' })
    await writeFile(`${dir}/terms.yaml`, JSON.stringify(['a', 'b', 'c', 'd', 'e'].map(item)))
    // Reading takes four calls (users, terms, views, rules); writes are lost from then on.
    await site.fault({ slow: 0, calls: 4 })
    await site.fault({ reset: 'before' })
    const { exitCode, stdout } = await site.stack(['apply', '--dir', dir, '--yes', '--json'])
    expect(exitCode).toBe(3)
    const { done, failed, notTried } = JSON.parse(stdout) as {
      done: number
      failed: unknown[]
      notTried: unknown[]
    }
    expect([done, failed.length, notTried.length]).toEqual([0, 3, 2])
  })

  it('changes nothing when the files or the service are ambiguous', async () => {
    await using site = await openStackSite()
    await fill(site)
    await site.json('terms', 'create', ...sets(term))
    const dir = site.folder.join('stack')
    const pulled = await site.stack(['pull', '--dir', dir])
    expect(pulled.exitCode).toBe(1)
    expect(pulled.stderr).toContain('the service has 2 terms named "pans" (ids 1, 2)')
    await expect(readdir(dir)).rejects.toThrow('ENOENT')
    await site.stack(['terms', 'delete', '2', '--yes'])
    await site.stack(['pull', '--dir', dir])
    await writeFile(`${dir}/terms.yaml`, '- name: pans\n  term: x\n- name: pans\n')
    await writeFile(`${dir}/users.yaml`, '- username: nobody\n')
    const refused = await site.stack(['apply', '--dir', dir, '--yes'])
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain(`${dir}/terms.yaml:3:3 found a second term named "pans"`)
    expect(refused.stderr).toContain(`${dir}/users.yaml:1:3 the service has no user "nobody"`)
    expect(await site.json('terms', 'list')).toMatchObject([{ term: 'pans' }])
  })

  it('ends at once when it is interrupted while it waits for the rate limit', async () => {
    await using site = await openStackSite({ rate: { requests: 5, perMs: 900_000 } })
    const dir = site.folder.join('stack')
    await site.stack(['pull', '--dir', dir])
    const interrupt = new AbortController()
    const { exitCode, stderr } = await site.stack(['plan', '--dir', dir], {
      signal: interrupt.signal,
      onOutput: () => interrupt.abort(new InterruptedError('SIGINT')),
    })
    expect([exitCode, stderr]).toEqual([
      130,
      expect.stringMatching(/^The service allows no more calls for \d+ s: waiting\.\n$/),
    ])
  })

  it('says what is missing to work at all', async () => {
    await using site = await openStackSite()
    const none = await site.stack(['plan', '--dir', site.folder.join('none')])
    expect(none.exitCode).toBe(2)
    expect(none.stderr).toContain('does not exist')
    const config = site.folder.join('other.yaml')
    const { url } = site.sandbox
    await writeFile(
      config,
      `catalogs: { main: { api: { url: "${url}", productsToken: x }, feeds: { f: { drop: ./d, files: "*.csv", mode: full } } } }
stack: { url: "${url}", accessToken: "\${STACK_TOKEN:-}", name: sandbox }
`,
    )
    const pull = ['stack', 'pull', '--config', config, '--dir', site.folder.join('none')]
    const { stderr, exitCode } = await runCli(pull)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`${config}:2:`)
    expect(stderr).toContain('stack.accessToken: is empty\nSet STACK_TOKEN')
    const wrong = await runCli(pull, { env: { STACK_TOKEN: 'wrong' } })
    expect(wrong.exitCode).toBe(3)
    expect(wrong.stderr).not.toContain('access_token')
  })
})
