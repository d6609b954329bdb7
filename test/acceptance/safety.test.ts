import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { Workplace } from './daemon.ts'

const catalog = `
deferred: { after: 0s, atMost: 1s }
delivery: { horizon: 1s }
feeds:
  shop:
    drop: ./drop/shop
    files: "*.csv"
    settle: 0s
    asOf: { name: "_(?<stamp>[0-9]{8})" }
    changes: { atMost: { urgent: 50% } }
`

function feedOf(price: number): string {
  const header = 'product_id,name,url,image_url,availability,price,price_currency_code'
  const rows = Array.from(
    { length: 20 },
    (_, index) => `p${index},Name,https://shop.example/p,https://shop.example/i.jpg,InStock,${price},EUR`,
  )
  return `${[header, ...rows].join('\n')}\n`
}

interface ImportView {
  sequence: number
  outcome: string
  decision: string | null
}

it('what was changed on its way, is late or changes too much is not delivered, and the operator is told what to do', async () => {
  await using workplace = await Workplace.open(catalog)
  const daemon = await workplace.start()
  await workplace.drop('shop', 'p_20261120.csv', feedOf(10))
  await workplace.untilImported(1)

  await workplace.drop('shop', 'p_20261121.csv.md5', createHash('md5').update('other').digest('hex'))
  await workplace.drop('shop', 'p_20261121.csv', feedOf(11))
  await workplace.untilImported(2)
  await workplace.drop('shop', 'p_20261119.csv', feedOf(12))
  await workplace.untilImported(3)
  await workplace.untilLogged(daemon, 'late: nothing of the file was applied')
  // The thread that imports logs it before the process notes it.
  await expect
    .poll(async () => (await workplace.runHere('status')).stdout, { timeout: 180_000 })
    .toContain('Import 3 came late: p_20261119.csv holds as of 2026-11-19T00:00:00.000Z')
  const late = await workplace.runHere('status')
  expect(late.code).toBe(1)
  expect(late.stdout).toContain('drop it again with a newer time in its name')

  const held = await heldImport(workplace)
  expect((await workplace.runHere('status')).stdout).toContain('Import 3 came late')
  await daemon.kill('SIGTERM')
  await daemon.ended()
  await rm(workplace.path('state', 'redis'), { recursive: true })
  await workplace.start()
  // The archive is replayed into the empty Redis first.
  await expect
    .poll(async () => (await workplace.status()).feeds[0], { timeout: 300_000 })
    .toMatchObject({ refused: { files: 1 }, held: [held] })
  await workplace.untilQuiet()
  expect((await workplace.documents()).get('p0')).toMatchObject({ price: 10 })

  expect(await workplace.runHere('approve', '4')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Approved: the file p_20261122.csv of feed shop (held: '),
  })
  await workplace.untilQuiet()
  expect((await workplace.documents()).get('p19')).toMatchObject({ price: 13 })
  const imports = await workplace.ask<ImportView[]>('imports')
  expect(imports.map(({ sequence, outcome, decision }) => [sequence, outcome, decision])).toEqual([
    [4, 'imported', 'approve'],
    [3, 'late', null],
    [2, 'refused', null],
    [1, 'imported', null],
  ])
  expect((await workplace.runHere('approve', '4')).code).toBe(2)
})

async function heldImport(workplace: Workplace) {
  await workplace.drop('shop', 'p_20261122.csv', feedOf(13))
  await workplace.untilImported(4)
  const { stdout } = await workplace.runHere('status')
  const reason = "it changes 20 of the feed's 20 products (urgent), more than changes.atMost.urgent (50%)"
  expect(stdout).toMatch(
    /held since \S+ \S+ \(.+ ago\), nothing of p_20261122\.csv was applied: it changes 20 of/,
  )
  expect(stdout).toContain('catalogd approve 4 or catalogd discard 4')
  const shown = await workplace.runHere('imports', '4')
  expect(shown.stdout).toContain(`  ${reason}\n  → Nothing of it was applied: approve 4 if that is right`)
  return expect.objectContaining({ sequence: 4, reason })
}
