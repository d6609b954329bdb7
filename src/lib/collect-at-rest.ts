/** Of the time: below it a thread rests. */
const busyMin = 0.05

/**
 * V8 collects when a heap grows. What a thread leaves behind when it comes to rest after a large file would stay for
 * hours: some 100 MB in all. So each thread collects once, some seconds after it was busy. Does nothing where V8 was not
 * started with `--expose-gc`.
 */
export function collectAtRest({ gc = globalThis.gc, everyMs = 5_000 } = {}): Disposable {
  let before = process.threadCpuUsage()
  let wasBusy = false
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    const isBusy = user + system > everyMs * 1_000 * busyMin
    if (wasBusy && !isBusy) gc?.({ type: 'major', flavor: 'last-resort' })
    wasBusy = isBusy
  }, everyMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
