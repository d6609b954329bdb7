// A process that uses the embedded server of a folder: reports on standard output, obeys lines on standard input.
import readline from 'node:readline'
import { systemClock } from '../../src/lib/clock.ts'
import { describeError } from '../../src/lib/errors.ts'
import { openLog } from '../../src/lib/log.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { openEmbeddedRedis } from '../../src/redis/embedded-redis.ts'

const [dir = ''] = process.argv.slice(2)
const log = openLog({ level: 'info', pretty: false })

try {
  const embedded = await openEmbeddedRedis({
    dir,
    clock: systemClock,
    log,
    onRestart: () => console.log(`restarted ${embedded.pid}`),
  })
  const redis = await openRedis({
    address: { kind: 'socket', path: embedded.socketPath },
    clock: systemClock,
    log,
  })
  console.log(`joined ${embedded.pid} ${embedded.socketPath}`)
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [word = '', ...args] = line.split(' ')
    if (word === 'leave') break
    await redis.waitUntilReady()
    console.log(`answer ${await redis.commands.call(word, ...args)}`)
  }
  // An open standard input would keep the process alive.
  process.stdin.destroy()
  await redis[Symbol.asyncDispose]()
  await embedded[Symbol.asyncDispose]()
  console.log('left')
} catch (error) {
  console.log(`failed ${describeError(error)}`)
  process.exitCode = 1
}
