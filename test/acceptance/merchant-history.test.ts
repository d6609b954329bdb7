import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openImports } from '../imports/harness.ts'
import { Workplace } from './daemon.ts'
import { type Documents, History, readExport } from './merchant-history-reference.ts'

const folder = fileURLToPath(new URL('../../../shared/feeds/google-merchant/history/', import.meta.url))
const reason = existsSync(folder) ? '' : ' (skipped: the shared feeds are not here)'

/** Twelve exports of a growing shop; the third and the tenth lost most of it. */
function exportsOf(): { name: string; xml: string }[] {
  const names = readdirSync(folder).sort()
  return names.map((name) => ({ name, xml: readFileSync(folder + name, 'utf8') }))
}

describe.skipIf(reason !== '')(`twelve exports of one shop in a row${reason}`, () => {
  it('send exactly the products that differ, and the two that lost most of it are held until they are approved', {
    timeout: 300_000,
  }, async () => {
    await using workplace = await Workplace.open(`
deferred: { after: 0s, atMost: 1s }
delivery: { horizon: 1s }
feeds:
  shop: { preset: google-merchant, drop: ./drop/shop, settle: 0s }`)
    await workplace.start()
    const sent = sentBy(workplace)
    const history = new History()
    const heldFiles: string[] = []
    for (const [index, { name, xml }] of exportsOf().entries()) {
      const { held, removals } = history.take(readExport(xml))
      await workplace.drop('shop', name, xml)
      await workplace.untilImported(index + 1)
      await workplace.untilQuiet()
      expect(await sent(), name).toEqual(history.differing())
      const waits = (await workplace.status()).feeds[0]?.held ?? []
      expect(waits, name).toHaveLength(held ? 1 : 0)
      if (!held) continue
      heldFiles.push(name.slice(0, 3))
      history.remove(removals)
      expect((await workplace.runHere('approve', String(waits[0]?.sequence))).code).toBe(0)
      await workplace.untilQuiet()
      expect(await sent(), `${name} approved`).toEqual(history.differing())
    }
    expect(heldFiles).toEqual(['003', '010'])
    expectSame(await workplace.documents(), history.documents())
  })

  it('wait with all removals from the third on while nobody approves, and go on with what is present', async () => {
    await using box = await openImports('shop: { preset: google-merchant, drop: ./drop }')
    const history = new History()
    const heldFiles: string[] = []
    for (const { name, xml } of exportsOf()) {
      const { held, removals } = history.take(readExport(xml))
      const report = await box.import('shop', xml, { name })
      expect(report, name).toMatchObject({ outcome: held ? 'held' : 'imported', rejected: 0 })
      expect(report.removals?.missing, name).toBe(removals.length)
      if (held) heldFiles.push(name.slice(0, 3))
      expect(box.unsent(), name).toEqual(history.differing())
      box.deliverAll()
    }
    // What was held once is missing from the next export, too; and no product ever went out of stock.
    expect(heldFiles).toEqual(['003', '004', '005', '006', '007', '008', '009', '010', '011', '012'])
    const documents = Object.entries(box.products()).flatMap(([id, { document }]) =>
      document === undefined ? [] : [[id, JSON.parse(document)] as const],
    )
    expectSame(new Map(documents), history.documents())
  })
})

/** Asks for the products of the calls since it was asked last, sorted; one that was sent twice stands there twice. */
function sentBy({ sandbox }: Workplace): () => Promise<string[]> {
  let before = 0
  return async () => {
    const answer = await fetch(`${sandbox.url}/sandbox/calls?ids=1`)
    const { calls } = (await answer.json()) as { calls: { ids: string[] | null }[] }
    const since = calls.slice(before)
    before = calls.length
    return since.flatMap(({ ids }) => ids ?? []).sort()
  }
}

function expectSame(found: Documents, expected: Documents): void {
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
}
