// Holds a lock until it is told to release it: node hold-lock.ts <file>
import { once } from 'node:events'
import { systemClock } from '../../../src/lib/clock.ts'
import { openStateLock } from '../../../src/sources/state-lock.ts'

const [file = ''] = process.argv.slice(2)
const lock = await openStateLock({
  file,
  clock: systemClock,
  onStandby: (holder) => console.log(`standby ${holder?.pid}`),
  onLost: (error) => {
    console.log(`lost ${error.code}`)
    process.exit(9)
  },
})
console.log(`held ${process.pid}`)
await once(process.stdin, 'data')
await lock[Symbol.asyncDispose]()
console.log('released')
process.exit(0)
