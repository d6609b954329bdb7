// The sources of one feed under the state lock, until it is killed or told to stop: node run-sources.ts <JSON>
import { once } from 'node:events'
import { join } from 'node:path'
import { systemClock } from '../../../src/lib/clock.ts'
import { openStateLock } from '../../../src/sources/state-lock.ts'
import { feedNamed, startSources } from './setup.ts'

const { stateDir, dropDir, rescanMs, forMs } = JSON.parse(process.argv[2] ?? '{}') as {
  stateDir: string
  dropDir: string
  rescanMs?: number
  forMs?: number
}
const lock = await openStateLock({
  file: join(stateDir, '..', 'lock'),
  clock: systemClock,
  onStandby: () => console.log('standby'),
  onLost: () => process.exit(9),
})
const feed = feedNamed('products', dropDir, { settle: { kind: 'quiet', forMs: forMs ?? 0 } })
const sources = await startSources({
  stateDir,
  feeds: [feed],
  ...(rescanMs === undefined ? {} : { rescanMs }),
  onLine: (line) => console.log(line),
})
console.log('ready')
await once(process.stdin, 'data')
await sources[Symbol.asyncDispose]()
await lock[Symbol.asyncDispose]()
console.log('stopped')
process.exit(0)
