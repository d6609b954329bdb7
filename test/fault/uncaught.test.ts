import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { Workplace } from '../acceptance/daemon.ts'
import { csv, row } from '../bad-input/feed-text.ts'

const preload = new URL('throw-uncaught.ts', import.meta.url).href

test('a file that ends the process twice is refused; kills of healthy ones are held against nothing', async () => {
  await using place = await Workplace.open(`
feeds:
  good: { drop: ./drop/good, settle: 0s, mode: delta }
  evil: { drop: ./drop/evil, settle: 0s, mode: delta }
`)
  const env = { NODE_OPTIONS: `--import ${preload}` }
  await place.drop('evil', 'evil.csv', csv([row('evil-1')]))
  for (let end = 1; end <= 2; end++) {
    // It may end before it says that it works.
    const daemon = await place.start({ env }).catch((error: unknown) => String(error))
    if (typeof daemon !== 'string') expect(await daemon.ended()).toMatchObject({ code: 70 })
    const notes = JSON.parse(await readFile(place.path('state', 'main', 'unexpected-failures.json'), 'utf8'))
    expect(Object.values(notes)).toMatchObject([{ times: end, reason: 'Error: thrown in a callback' }])
  }
  let daemon = await place.start({ env })
  await place.drop('good', 'good.csv', csv([row('good-1')]))
  await place.untilTaken('good-1', 1)
  await place.untilImported(2)
  const report = await readFile(place.path('state', 'main', 'failed', 'evil', 'evil.csv.report.json'), 'utf8')
  expect(report).toMatch(/evil\.csv: its import failed 2 times .* Error: thrown in a callback/)
  expect(await readFile(place.path('state', 'main', 'unexpected-failures.json'), 'utf8')).toBe('{}\n')
  const rows = Array.from({ length: 3_000 }, (_, at) => row(`again-${at}`))
  await place.drop('good', 'again.csv', csv(rows))
  for (let kill = 0; kill < 3; kill++) {
    await daemon.kill('SIGKILL')
    daemon = await place.start()
  }
  await place.untilTaken('again-2999', 1)
  expect(await readFile(place.path('state', 'main', 'unexpected-failures.json'), 'utf8')).toBe('{}\n')
  await place.drop('evil', 'evil.csv', csv([row('evil-1')]))
  await place.untilTaken('evil-1', 1)
})
