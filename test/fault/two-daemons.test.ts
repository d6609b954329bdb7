import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { leakCheck } from '../support/leak-check.ts'
import { Site } from './site.ts'
import { expectedDocuments, productId, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

test('two daemons on one state folder: one works, the other takes over when it is killed', async () => {
  await using site = await Site.open({ latencyMs: 20 })
  const first = await site.start()
  const second = await site.start({ says: 'standing by' })
  for (let version = 1; version <= 4; version += 1) {
    await site.drop(`v${version}_full.csv`, versionFile(version, 3_000))
    await delay(100)
  }
  await first.kill('SIGKILL')
  await site.untilLogged(second, 'watching and importing')
  await site.drop('v5_full.csv', versionFile(5, 3_000))
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(5, 3_000))
})

test('two state folders on one drop folder: each file is imported by exactly one of them', async () => {
  await using one = await Site.open()
  await using other = await Site.open({ sandbox: one.sandbox, dropDir: one.dropDir })
  await Promise.all([one.start(), other.start()])
  const names = Array.from({ length: 60 }, (_, file) => `f${String(file).padStart(2, '0')}_delta.csv`)
  const header = 'product_id,name,url,image_url,availability,price,price_currency_code'
  for (const [file, name] of names.entries()) {
    const rest = 'Pan,https://shop.example/p,https://shop.example/i.jpg,InStock,1,EUR'
    await one.drop(name, `${header}\n${productId(file)},${rest}\n`)
  }
  const count = async () => (await one.accepted()).length + (await other.accepted()).length
  while ((await count()) < names.length) await delay(50)
  const [byOne, byOther] = [await one.accepted(), await other.accepted()]
  await one.untilQuiet({ files: byOne.length })
  await other.untilQuiet({ files: byOther.length })
  expect([...byOne, ...byOther].map(({ name }) => name).sort()).toEqual(names)
  const times = await Promise.all(names.map(async (_, file) => (await one.taken(productId(file)))?.times))
  expect(times).toEqual(names.map(() => 1))
})
