import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

// Loaded into the daemon before anything else (`node --import`): tells how long its main thread was held up. On SIGUSR2 the
// delay since the one before is written to the file that EVENT_LOOP_FILE names.

const file = process.env.EVENT_LOOP_FILE
if (isMainThread && file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  process.on('SIGUSR2', () => {
    writeFileSync(
      `${file}.part`,
      JSON.stringify({ p99Ms: delay.percentile(99) / 1e6, maxMs: delay.max / 1e6 }),
    )
    delay.reset()
    renameSync(`${file}.part`, file)
  })
}
