import { chmod, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { csv, row } from '../bad-input/feed-text.ts'
import { waitFor } from '../support/events.ts'
import { Workplace } from './daemon.ts'

const catalog = `
feeds:
  products: { drop: ./drop/products, settle: 0s, mode: delta, rejects: { atMost: 100% } }
  addresses: { kind: consents, drop: ./drop/addresses, settle: 0s, fields: { email: email, consent: consent } }
`

/** What others may enter, read or write below a folder, with its rights. */
async function openBelow(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true })
  const found = await Promise.all(
    entries.map(async (entry) => {
      const mode = (await stat(join(dir, entry)).catch(() => undefined))?.mode ?? 0
      return (mode & 0o077) === 0 ? [] : [`${entry} ${(mode & 0o777).toString(8)}`]
    }),
  )
  return found.flat()
}

test('all that catalogd writes below its state folder is for its user alone; what is open is told once', async () => {
  await using place = await Workplace.open(catalog, { hasConsents: true })
  const state = place.path('state')
  // As an operator, or an earlier version, has made them.
  await mkdir(join(state, 'main'), { recursive: true })
  for (const folder of [state, join(state, 'main')]) await chmod(folder, 0o755)
  const daemon = await place.start()
  await place.drop('products', 'some.csv', csv([row('some-1'), row('some-2').replace(/\d+\.\d\d/, 'much')]))
  await place.drop('products', 'empty.csv', '')
  await place.drop('addresses', 'addresses.csv', 'email,consent\na@shop.example,true\n')
  await place.untilTaken('some-1', 1)
  await place.untilImported(3)
  await place.run('pause')
  await place.run('load', 'products', place.path('catalogd.yaml'), '--no-wait')
  await waitFor(async () => (await readdir(join(state, 'main', 'archive'))).length > 3)
  await place.run('resume')
  expect(await openBelow(state)).toEqual([])
  expect((await stat(state)).mode & 0o777).toBe(0o755)
  expect(daemon.stderr.match(/other users of this machine may enter the state folder/g)).toHaveLength(1)
  // Others go on dropping files.
  expect((await stat(place.path('drop', 'products'))).mode & 0o777).toBe(0o777 & ~process.umask())
})

test('a configuration that others may read is told where secrets stand in it', async () => {
  await using place = await Workplace.open(catalog, { hasConsents: true })
  const config = place.path('catalogd.yaml')
  const warning = /catalogd\.yaml holds secrets, and every user of this machine may read it: chmod o-r it/
  await chmod(config, 0o644)
  expect((await place.runHere('config', 'check')).stdout).toMatch(warning)
  expect((await place.start()).stderr.match(new RegExp(warning, 'g'))).toHaveLength(1)
  await chmod(config, 0o640)
  expect((await place.runHere('config', 'check')).stdout).not.toMatch(warning)
  await using other = await Workplace.open(catalog.replace(/\n {2}addresses.*/, ''))
  expect(await readFile(other.path('catalogd.yaml'), 'utf8')).toContain('$' + '{API_PRODUCTS_TOKEN}')
  await chmod(other.path('catalogd.yaml'), 0o644)
  expect((await other.runHere('config', 'check')).stdout).not.toMatch(warning)
})
