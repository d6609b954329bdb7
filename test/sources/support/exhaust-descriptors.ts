// Opens the events of a folder when no file descriptor is left, then again: sh -c 'ulimit -n 60; node … <dir>'
import { closeSync, openSync } from 'node:fs'
import { systemErrorCode } from '../../../src/lib/errors.ts'
import { EventKeeper } from '../../../src/sources/event-keeper.ts'
import { NoticeBoard } from '../../../src/sources/notices.ts'
import { silentLog } from './setup.ts'

const [dir = ''] = process.argv.slice(2)
const notices = new NoticeBoard({
  log: silentLog,
  onNotice: (key, text) => console.log(`notice ${key}: ${text ?? '(over)'}`),
})
const keeper = new EventKeeper({ dir, place: 'products', notices, log: silentLog, onEvent: () => {} })

const taken: number[] = []
try {
  for (;;) taken.push(openSync('/dev/null', 'r'))
} catch (error) {
  if (systemErrorCode(error) !== 'EMFILE') throw error
}
await keeper.refresh()
const pollMs = keeper.scanMs(30_000)
for (const descriptor of taken) closeSync(descriptor)
console.log(`looked at every ${pollMs}`)
console.log(`opened ${await keeper.refresh()}`)
console.log(`looked at every ${keeper.scanMs(30_000)}`)
await keeper[Symbol.asyncDispose]()
console.log('end')
