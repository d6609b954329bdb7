import { mkdir, rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitFor } from '../support/events.ts'
import { Workplace } from './daemon.ts'

const catalog = `
deferred: { after: 0s, atMost: 1s }
delivery: { horizon: 1s }
feeds:
  shop: { drop: ./drop/shop, settle: 0s, missing: { atMost: 10% } }
`

function feedOf(ids: readonly string[], price = 10): string {
  const header = 'product_id,name,url,image_url,availability,price,price_currency_code'
  const rows = ids.map(
    (id) => `${id},Name,https://shop.example/${id},https://shop.example/i.jpg,InStock,${price},EUR`,
  )
  return `${[header, ...rows].join('\n')}\n`
}

interface ImportView {
  sequence: number
  outcome: string
  decision: string | null
  report: { reason?: string; changes: { missing: number } } | null
}

const ids = Array.from({ length: 10 }, (_, index) => `p${index}`)

/** The same commands with a daemon that carries them out and without one, where each does it itself. */
describe.each([{ by: 'a daemon' }, { by: 'the commands themselves' }])(
  'operators, served by $by',
  ({ by }) => {
    let workplace: Workplace
    // With a daemon each command is a process; without one it runs here, where its work would be done as well.
    const run = (...args: string[]) =>
      by === 'a daemon' ? workplace.run(...args) : workplace.runHere(...args)
    const bring = async (name: string, content: string) => {
      await workplace.drop('elsewhere', name, content)
      await run('load', 'shop', workplace.path('drop', 'elsewhere', name))
    }
    const sequenceOf = async () =>
      (await workplace.ask<ImportView[]>('imports', '--limit', '1'))[0]?.sequence ?? 0

    beforeAll(async () => {
      workplace = await Workplace.open(catalog)
      if (by === 'a daemon') await workplace.start()
      await bring('first.csv', feedOf(ids))
    })
    afterAll(() => workplace?.[Symbol.asyncDispose]())

    it('pause keeps products back and resume lets them go', async () => {
      expect(await run('pause')).toMatchObject({ code: 0 })
      const before = await workplace.summary()
      await workplace.drop('elsewhere', 'paused.csv', feedOf(ids, 11))
      const file = workplace.path('drop', 'elsewhere', 'paused.csv')
      expect(await run('load', 'shop', file, '--no-wait')).toMatchObject({ code: 0 })
      const status = await run('status')
      expect(status.code).toBe(3)
      expect(status.stdout).toContain('paused (operator)')
      expect(status.stdout).toContain('catalogd resume lets calls begin again')
      expect(await workplace.summary()).toEqual(before)
      expect(await run('resume')).toMatchObject({ code: 0, stdout: 'Resumed.\n' })
      await run('load', 'shop', file)
      expect((await workplace.documents()).get('p0')).toHaveProperty('price', 11)
      expect((await workplace.held('p0'))?.times).toBe(2)
    })

    it('resync sends again what is named, and refuses what nobody knows', async () => {
      const unknown = await run('resync', 'p1', 'nobody')
      expect(unknown).toMatchObject({ code: 2, stdout: '' })
      expect(unknown.stderr).toContain('has no product "nobody"')
      expect(await run('resync', 'p1')).toMatchObject({ code: 0 })
      await bring('again.csv', feedOf(ids, 11))
      await workplace.untilTaken('p1', 3)
      expect((await workplace.held('p2'))?.times).toBe(2)
    })

    it('held removals wait for approve, and discard drops them', async () => {
      await bring('short.csv', feedOf(ids.slice(0, 5), 11))
      const held = await sequenceOf()
      const status = await workplace.status()
      expect(status.feeds[0]?.held).toMatchObject([
        { sequence: held, reason: expect.stringContaining('5 of 10 products are missing') },
      ])
      expect((await run('approve', String(held - 1))).code).toBe(2)
      // A folder of that name is no file to compare with; `run` works in the folder of the configuration.
      await mkdir(workplace.path(String(held)))
      const diff = await workplace.run('diff', 'shop', String(held))
      expect(diff, diff.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('5 missing') })
      const discarded = await run('discard', String(held))
      expect(discarded.stdout).toBe(
        'Discarded: the removal of 5 of 10 products of feed shop that short.csv no longer names\n',
      )
      expect((await workplace.documents()).get('p9')).toHaveProperty('availability', 'InStock')
      const { feeds } = await workplace.status()
      expect(feeds[0]?.lastFile).toMatchObject({ outcome: 'held', decision: 'discard' })

      await bring('short-again.csv', feedOf(ids.slice(0, 5), 11))
      const second = await sequenceOf()
      expect((await run('approve', String(second))).code).toBe(0)
      await run('load', 'shop', workplace.path('drop', 'elsewhere', 'short-again.csv'))
      expect((await workplace.documents()).get('p9')).toHaveProperty('availability', 'OutOfStock')
      const [, approved] = await workplace.ask<ImportView[]>('imports', '--limit', '2')
      expect(approved).toMatchObject({ sequence: second, outcome: 'held', decision: 'approve' })
    })

    it('dead letters are listed, shown, retried and dropped', async () => {
      await workplace.fault({ refuse: 'named', productIds: ['bad1', 'bad2'], reason: 'no such brand' })
      await bring('bad.csv', feedOf([...ids, 'bad1', 'bad2'], 11))
      const letters = await workplace.ask<{ productId: string; reason: string; status: number }[]>(
        'dead',
        'list',
      )
      expect(letters.map(({ productId }) => productId).sort()).toEqual(['bad1', 'bad2'])
      expect(letters[0]).toMatchObject({ status: 400, reason: expect.stringContaining('no such brand') })
      const { stdout: listed } = await run('dead', 'list')
      expect(listed).toMatch(/^bad1 +400 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ .*no such brand/m)
      const shown = await workplace.ask<{ document: object }>('dead', 'show', 'bad1')
      expect(shown.document).toMatchObject({ product_id: 'bad1', price: 11 })
      const stranger = await run('dead', 'show', 'p1')
      expect(stranger).toMatchObject({ code: 2, stdout: '' })

      const dropped = await run('dead', 'drop', 'bad1', 'p1')
      expect(dropped).toMatchObject({ code: 1, stdout: '1 product given up.\nNo dead letter: p1\n' })
      await fetch(`${workplace.sandbox.url}/sandbox/faults`, { method: 'DELETE' })
      expect((await run('dead', 'retry', '--all')).stdout).toBe('1 product will be sent again.\n')
      await bring('calm.csv', feedOf([...ids, 'bad1', 'bad2'], 11))
      await workplace.untilTaken('bad2', 1)
      expect(await workplace.held('bad1')).toBeUndefined()
      expect(await workplace.ask('dead', 'list')).toEqual([])
      expect(await run('dead', 'list')).toMatchObject({ stdout: 'No product was refused.\n' })
    })
  },
)

describe('daemons', () => {
  it('one ends well on SIGTERM in the middle of a call; what it sent stays acknowledged', async () => {
    await using workplace = await Workplace.open(catalog)
    const daemon = await workplace.start()
    await workplace.fault({ slow: 3_000, apply: 'before', content: true })
    await workplace.drop('shop', 'a.csv', feedOf(ids))
    await waitFor(async () => (await workplace.summary()).documentsTaken === ids.length, { what: 'the call' })
    const beganAtMs = performance.now()
    await daemon.kill('SIGTERM')
    expect(await daemon.ended()).toEqual({ code: 0, signal: null })
    // A promise of the program, not a measurement: running calls have 10 s, then the process ends.
    expect(performance.now() - beganAtMs).toBeLessThan(20_000)
    const { overview } = await workplace.status()
    expect(overview).toMatchObject({ pending: 0, inFlight: 0, echoes: { waiting: 0 } })
  })

  it('a second one stands by and takes over when the first is killed', async () => {
    await using workplace = await Workplace.open(catalog)
    const first = await workplace.start()
    const second = await workplace.start({ standsBy: true })
    await workplace.drop('shop', 'a.csv', feedOf(ids))
    await workplace.untilImported(1)
    await first.kill('SIGKILL')
    await workplace.untilLogged(second, 'watching and importing')
    await workplace.drop('shop', 'b.csv', feedOf([...ids, 'late'], 12))
    await workplace.untilTaken('late', 1)
    await workplace.untilQuiet()
    const documents = await workplace.documents()
    expect([...documents.values()].map(({ price }) => price)).toEqual(Array(11).fill(12))
    expect((await workplace.run('status')).stdout).toContain(`pid ${second.pid}`)
    expect(await workplace.summary()).toMatchObject({ overlapping: { count: 0 } })
  })

  it('one that cannot write its reports says so, goes on waiting, and begins again', async () => {
    await using workplace = await Workplace.open(catalog)
    await mkdir(workplace.path('state', 'main'), { recursive: true })
    await writeFile(workplace.path('state', 'main', 'reports'), 'a file where the folder should be')
    const daemon = await workplace.start()
    // One bad record, so that the rejects file is what fails first.
    await workplace.drop('shop', 'a.csv', feedOf([...ids, '']))
    await workplace.untilLogged(daemon, 'imports pause and begin again')
    // Not while they try again.
    const tellsWhy = async () =>
      (await workplace.runHere('status')).stdout.includes('imports pause: cannot write')
    await waitFor(tellsWhy, { what: 'why imports pause, in the status', withinMs: 180_000 })
    await rm(workplace.path('state', 'main', 'reports'))
    await workplace.untilImported(1)
    await workplace.untilQuiet()
    expect([...(await workplace.documents()).keys()]).toEqual(ids)
    expect(daemon.running).toBe(true)
    const status = await workplace.runHere('status')
    expect(status.stdout).not.toContain('imports pause')
  })

  it('whose own Redis is silent is told of by status, with all that stands on the disk', async () => {
    await using workplace = await Workplace.open(catalog)
    const daemon = await workplace.start()
    const pid = Number(/"serverPid":(\d+)/.exec(daemon.stderr)?.[1])
    process.kill(pid, 'SIGSTOP')
    const status = await workplace.run('status')
    process.kill(pid, 'SIGCONT')
    expect(status).toMatchObject({ code: 4, stderr: '' })
    expect(status.stdout).toMatch(/redis +down.*feed shop: no file yet/s)
  })
})
