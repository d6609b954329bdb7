import { appendFile, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CallLog } from '../../src/delivery/call-log.ts'
import type { ProductId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { tempDir } from '../support/temp-dir.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

function openLog(dir: string, { processName = 'host-1', rotateMegabytes = 16, horizonMs = 120_000 } = {}) {
  const { log, lines } = collectLog()
  const callLog = new CallLog({ dir, processName, horizonMs, clock: systemClock, log, rotateMegabytes })
  return { callLog, lines }
}

const ids = (...names: string[]) => names as ProductId[]
/** The whole lines of all files. */
async function readAll(dir: string): Promise<{ event: string; token?: string }[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith('.ndjson'))
  const texts = await Promise.all(names.map((name) => readFile(join(dir, name), 'utf8')))
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line.endsWith('}'))
  return lines.map((line) => JSON.parse(line))
}

test('a call is on disk when begin returns, and is read back with its end', async () => {
  await using dir = await tempDir('calls')
  const { callLog } = openLog(dir.join('calls'))
  await using _ = callLog
  const call = await callLog.begin({ token: 't1', ids: ids('a', 'b'), bytes: 42 })
  expect(await readAll(dir.join('calls'))).toMatchObject([
    { event: 'begin', call, token: 't1', ids: ['a', 'b'], bytes: 42 },
  ])
  await callLog.end({ call, outcome: 'acknowledge', status: 200, requestId: 'r', durationMs: 7 })
  expect(await readAll(dir.join('calls'))).toMatchObject([
    { event: 'begin' },
    { event: 'end', call, outcome: 'acknowledge', status: 200, requestId: 'r', durationMs: 7 },
  ])
})

test('an entry after a torn line is not torn with it', async () => {
  await using dir = await tempDir('calls')
  await appendFile(dir.join('host-1.ndjson'), '{"event":"begin","call":"torn"')
  await using callLog = openLog(dir.path).callLog
  await callLog.begin({ token: 'whole', ids: ids('a'), bytes: 1 })
  expect(await readAll(dir.path)).toMatchObject([{ token: 'whole' }])
})

test('files are rotated by size, and nothing of the last two horizons is removed', async () => {
  await using dir = await tempDir('calls')
  await using callLog = openLog(dir.path, { rotateMegabytes: 1 }).callLog
  const many = ids(...Array.from({ length: 60_000 }, (_, index) => `product-${index}`))
  for (let call = 0; call < 26; call++) await callLog.begin({ token: `t${call}`, ids: many, bytes: 1 })
  expect((await readdir(dir.path)).length).toBeGreaterThan(11)
  const tokens = (await readAll(dir.path)).map((entry) => entry.event === 'begin' && entry.token)
  expect(tokens.length).toBe(26)

  const longAgo = new Date(systemClock.now() - 3_600_000)
  const rotated = (await readdir(dir.path)).filter((name) => name !== 'host-1.ndjson')
  for (const name of rotated) await utimes(dir.join(name), longAgo, longAgo)
  await writeFile(dir.join('host-9.ndjson'), '')
  for (let call = 0; call < 2; call++) await callLog.begin({ token: 'more', ids: many, bytes: 1 })
  const count = async () => (await readdir(dir.path)).filter((name) => /T\d+Z-\d+/.test(name)).length
  await waitFor(async () => (await count()) <= 8)
  expect(await readdir(dir.path)).toContain('host-9.ndjson')
})

test('a file that no process has touched for a day is removed', async () => {
  await using dir = await tempDir('calls')
  await writeFile(dir.join('gone-1.ndjson'), '')
  const longAgo = new Date(systemClock.now() - 2 * 86_400_000)
  await utimes(dir.join('gone-1.ndjson'), longAgo, longAgo)
  await using callLog = openLog(dir.path).callLog
  await callLog.begin({ token: 't', ids: ids('a'), bytes: 1 })
  await waitFor(async () => !(await readdir(dir.path)).includes('gone-1.ndjson'))
})

test('a disk that takes nothing is told once; calls go on, and the log does when it can', async () => {
  await using dir = await tempDir('calls')
  await mkdir(dir.join('calls'))
  // A folder stands where the file should be: refuses root as well, unlike permissions.
  await mkdir(dir.join('calls', 'host-1.ndjson'))
  const { callLog, lines } = openLog(dir.join('calls'))
  await using _ = callLog
  for (let call = 0; call < 3; call++) await callLog.begin({ token: 't', ids: ids('a'), bytes: 1 })
  expect(lines.filter(({ level }) => level === 'error').map(({ msg }) => msg)).toEqual([
    'the call log cannot be written',
  ])
  await rm(dir.join('calls', 'host-1.ndjson'), { recursive: true })
  await callLog.begin({ token: 'again', ids: ids('a'), bytes: 1 })
  expect(await readFile(dir.join('calls', 'host-1.ndjson'), 'utf8')).toContain('again')
  expect(lines.at(-1)?.msg).toBe('the call log can be written again')
})
