import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { readContents, verifyFile } from '../../src/operations/backup-files.ts'
import { readCheckedConfig } from '../../src/operations/read-config.ts'
import { finishRestore, stageRestore } from '../../src/operations/restore-backup.ts'
import { startChild } from '../support/child.ts'
import { leakCheck } from '../support/leak-check.ts'
import { Site } from './site.ts'
import { expectedDocuments, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const killer = new URL('kill-at-step.ts', import.meta.url).href
const delivery = '{ callBytes: 100KB, concurrency: 4, timeout: 1s, horizon: 1s, callsPerSecond: 200 }'
const products = 500
const stepsMax = 200

/** Runs a command again and again, killed one step later each time, until it ends by itself. Answers how often. */
async function killAtEachStep(
  site: Site,
  inPath: string,
  {
    before,
    argsOf,
    after,
  }: {
    before?: () => Promise<void>
    argsOf: (step: number) => string[]
    after: (step: number) => Promise<void>
  },
): Promise<number> {
  for (let step = 1; step < stepsMax; step += 1) {
    await before?.()
    const env = { NODE_OPTIONS: `--import ${killer}`, KILL_AT: `${step}`, KILL_PATH: inPath }
    await using child = await startChild(program, { args: argsOf(step), cwd: site.path(), env })
    const { code } = await child.ended()
    if (code === 0) return step - 1
    await after(step)
  }
  throw new Error('the command never ended by itself')
}

test('backup and restore, killed at every step: nothing half is ever taken for whole', {
  timeout: 900_000,
}, async () => {
  await using site = await Site.open({ delivery })
  const daemon = await site.start()
  await site.drop('v001_full.csv', versionFile(1, products))
  await site.untilQuiet()
  await site.run('backup', site.path('complete'))
  await site.drop('v002_full.csv', versionFile(2, products))
  await site.untilQuiet()

  // While the daemon runs.
  let whole = 0
  const folder = (step: number) => site.path(`backup-${step}`)
  const backupKills = await killAtEachStep(site, 'backup-', {
    argsOf: (step) => ['backup', folder(step)],
    async after(step) {
      const made = existsSync(folder(step)) ? folder(step) : `${folder(step)}.unfinished`
      const contents = await readContents(made).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'no-backup' })
        expect(made).not.toBe(folder(step))
      })
      for (const file of contents?.catalogs[0]?.files ?? [])
        await verifyFile(join(made, 'main', file.name), file)
      whole += contents ? 1 : 0
    },
  })
  expect(backupKills - whole).toBeGreaterThan(10)
  expect((await readContents(folder(backupKills + 1))).catalogs).toHaveLength(1)
  await daemon.kill('SIGTERM')

  const { config } = await readCheckedConfig({ file: site.path('catalogd.yaml'), env: {} })
  const catalogs = [...config.catalogs.values()]
  const file = site.path('state/main/catalog.db')
  let [refused, opened] = [0, 0]
  const restoreKills = await killAtEachStep(site, 'state/main', {
    argsOf: () => ['restore', '--yes', site.path('complete')],
    async before() {
      for (const one of await stageRestore({ config, catalogs }, site.path('complete')))
        await finishRestore(one, systemClock)
    },
    async after() {
      if (!existsSync(file)) {
        refused += 1
        expect(() => MirrorStore.open({ file, isExpected: true })).toThrow(/missing/)
        return
      }
      opened += 1
      using store = MirrorStore.open({ file, isExpected: true })
      expect(store.readIdentity().startOver).toBe(0)
      using plain = new DatabaseSync(file, { readOnly: true })
      expect(plain.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
      expect(plain.prepare('SELECT count(*) AS count FROM products').get()).toEqual({ count: products })
    },
  })
  expect(restoreKills).toBeGreaterThan(10)
  expect(refused).toBeGreaterThan(2)
  expect(opened).toBeGreaterThan(5)

  // What was accepted since the backup is there again.
  await site.start()
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(2, products))
})
