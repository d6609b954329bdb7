import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Watchdog } from '../../src/lib/watchdog.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { unguarded } from '../support/unguarded.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const tickMs = 20
const ticksMax = 10

function openWatchdog() {
  const stalls: string[] = []
  const watchdog = new Watchdog({
    onStall: (name) => stalls.push(name),
    ticksMax,
    tickMs,
    heartbeat: unguarded(),
  })
  return { stalls, watchdog }
}

test('work that is expected and does not advance is a stall, told once', async () => {
  const { stalls, watchdog } = openWatchdog()
  await using _ = watchdog
  const work = watchdog.watch('standing')
  work.expect()
  // Expected again and again is no progress.
  const expecting = setInterval(() => work.expect(), tickMs)
  await waitFor(() => stalls.length > 0)
  await delay(2 * ticksMax * tickMs)
  clearInterval(expecting)
  expect(stalls).toEqual(['standing'])
})

test('work that advances, rests, or was never expected is no stall', async () => {
  const { stalls, watchdog } = openWatchdog()
  await using _ = watchdog
  watchdog.watch('never expected')
  const resting = watchdog.watch('resting')
  resting.expect()
  resting.rest()
  const waiting = watchdog.watch('waiting')
  const wait = waiting.wait()
  waiting.expect()
  const busy = watchdog.watch('busy')
  const advancing = setInterval(() => busy.advance(), tickMs)
  await delay(3 * ticksMax * tickMs)
  clearInterval(advancing)
  expect(stalls).toEqual([])
  await waitFor(() => stalls.length > 0)
  expect(stalls).toEqual(['busy'])
  wait[Symbol.dispose]()
  await waitFor(() => stalls.length > 1)
  expect(stalls).toEqual(['busy', 'waiting'])
})

test('two works of one name are watched both', async () => {
  const { stalls, watchdog } = openWatchdog()
  await using _ = watchdog
  watchdog.watch('import').expect()
  watchdog.watch('import').rest()
  await waitFor(() => stalls.length > 0)
  expect(stalls).toEqual(['import'])
})

test.each([
  ['itself', 'for (;;);'],
  [
    'of a thread that it started',
    `const heartbeat = watchdog.watchThread()
     new Worker(thread, { eval: true, execArgv: [], workerData: heartbeat })`,
  ],
])(
  'a process whose event loop %s stands still is ended from outside of it',
  {
    timeout: 300_000,
  },
  async (_whose, stand) => {
    const module = JSON.stringify(new URL('../../src/lib/watchdog.ts', import.meta.url).href)
    const options = `onStall: () => {}, ticksMax: ${ticksMax}, tickMs: ${tickMs}`
    const thread = `
    const { workerData: heartbeat } = require('node:worker_threads')
    import(${module}).then(({ Watchdog }) => {
      new Watchdog({ ${options}, heartbeat })
      setTimeout(() => { for (;;); }, ${5 * tickMs})
    })
  `
    const source = `
    import { Worker } from 'node:worker_threads'
    import { Watchdog } from ${module}
    const thread = ${JSON.stringify(thread)}
    const watchdog = new Watchdog({ ${options} })
    setTimeout(() => { ${stand} }, ${5 * tickMs})
  `
    const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    const [code, signal] = await once(child, 'close')
    expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' })
    expect(said).toContain('the event loop stands still')
  },
)
