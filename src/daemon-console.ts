import { type IntakeState, readHealth } from './alerts/read-health.ts'
import { type ConsoleOptions, openConsole } from './console/console.ts'
import { isThisMachine } from './lib/base-address.ts'
import { openMetrics } from './metrics/open-metrics.ts'
import type { ScrapeOptions } from './metrics/scrape.ts'

interface DaemonConsoleOptions extends ScrapeOptions, Pick<ConsoleOptions, 'config' | 'pages' | 'log'> {
  intake: () => IntakeState
}

export { checkConsole } from './console/console.ts'

/** Pushed files need the process that accepts; every process tells how it is, and what it does. */
export async function openDaemonConsole({
  intake,
  ...options
}: DaemonConsoleOptions): Promise<AsyncDisposable> {
  const { config, catalogs, connections, stateDir, pages, clock, log } = options
  await using stack = new AsyncDisposableStack()
  const metrics = stack.use(openMetrics(options))
  const configured = () => catalogs().map(({ catalog }) => catalog)
  const console = await openConsole({
    ...{ config, pages, clock, log },
    get catalogs() {
      return configured()
    },
    acceptorOf: (name) => catalogs().find(({ catalog }) => catalog.name === name)?.intake?.acceptPushed,
    health: () => {
      const mirrors = catalogs().flatMap(({ intake }) => intake?.mirror ?? [])
      return readHealth({ connections, catalogs: configured(), stateDir, intake: intake(), mirrors })
    },
    metrics: { read: metrics.read, isReachable: !isThisMachine(config.listen.host) },
  })
  stack.use(console)
  return stack.move()
}
