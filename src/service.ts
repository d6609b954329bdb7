import { join } from 'node:path'
import { openAlerts } from './alerts/open-alerts.ts'
import type { IntakeState } from './alerts/read-health.ts'
import { CatalogService, type CatalogServiceOptions, checkAccess } from './catalog-service.ts'
import type { ConfigChanges } from './config/compare-configs.ts'
import type { CatalogConfig } from './config/model.ts'
import type { RegisterPages } from './console/console.ts'
import { checkConsole, openDaemonConsole } from './daemon-console.ts'
import { noteUncaught } from './imports/unexpected-failures.ts'
import type { CatalogName } from './lib/brand.ts'
import { collectAtRest } from './lib/collect-at-rest.ts'
import { stallOf, Watchdog, watchEventLoop } from './lib/watchdog.ts'
import { CatalogMeter } from './metrics/catalog-meter.ts'
import type { MeteredCatalog } from './metrics/scrape.ts'
import type { Traces } from './metrics/traces.ts'
import { WorkLog } from './metrics/work-log.ts'
import { isOpenToOthers } from './sources/layout.ts'
import { openStateLock, type StateLock } from './sources/state-lock.ts'
import { stateDirOf } from './storage.ts'

/** `watch` accepts files, `import` applies them: both need the state lock, and one process has it. */
export const roles = ['watch', 'import', 'deliver', 'console'] as const
export type Role = (typeof roles)[number]

export interface ServiceOptions extends Omit<CatalogServiceOptions, 'catalog' | 'watchdog' | 'meter'> {
  catalogs: readonly CatalogConfig[]
  roles: ReadonlySet<Role>
  /** For people, beside pushed files and health: of what is configured now. */
  pages?: (configured: () => Configured) => RegisterPages
  /** Another process holds the state folder; this one waits for it to end. */
  onStandby?: (holder: { host: string; pid: number } | undefined) => void
  /** This process now accepts and imports. */
  onActive?: () => void
}

/** What is configured, and what of it this process works on. */
export type Configured = Pick<ServiceOptions, 'config' | 'catalogs'>

/** Opens the running parts of this process, downstream first, so that nothing is taken in that could not be passed on. */
export async function openService(options: ServiceOptions): Promise<Service> {
  for (const catalog of options.catalogs) checkAccess(options, catalog)
  const service = new Service(options)
  try {
    await service.open()
    return service
  } catch (error) {
    await service[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * The running parts of this process.
 *
 * opened: delivers and answers, by its roles → waiting for the state lock (its holder may be another process) → active:
 * accepts and imports, too → closed, in reverse. Reloading closes what a changed configuration concerns and opens it again;
 * one reload at a time, and none while the parts that need the lock are being opened.
 */
class Service implements AsyncDisposable {
  readonly #options: ServiceOptions
  readonly #shared = new AsyncDisposableStack()
  readonly #watchdog: Watchdog
  readonly #catalogs = new Map<CatalogName, CatalogService>()
  /** They count on when their catalog is opened again. */
  readonly #meters = new Map<CatalogName, CatalogMeter>()
  readonly #stop = new AbortController()
  #configured: Configured
  #intake: IntakeState
  #console: AsyncDisposable | undefined
  #traces: Traces | undefined
  #alerts: AsyncDisposable | undefined
  #lock: StateLock | undefined
  #waiting: Promise<void> = Promise.resolve()
  #turn: Promise<unknown> = Promise.resolve()
  /** Why the newest configuration is not the one that runs. */
  #refusal: string | undefined

  constructor(options: ServiceOptions) {
    this.#options = options
    this.#configured = options
    const onStall = (name: string) => options.onFatal(stallOf(name))
    this.#watchdog = this.#shared.use(new Watchdog({ onStall }))
    this.#shared.use(watchEventLoop(options.log))
    this.#shared.use(collectAtRest())
    process.on('uncaughtExceptionMonitor', noteUncaught)
    this.#shared.defer(() => void process.off('uncaughtExceptionMonitor', noteUncaught))
    const { roles: own, watchesDropFolders = true } = options
    // A command that a person waits for tells of its work itself.
    if (watchesDropFolders) this.#shared.use(new WorkLog({ ...options, catalogs: () => this.#metered() }))
    this.#intake = own.has('watch') || own.has('import') ? 'starting' : 'elsewhere'
  }

  async open(): Promise<void> {
    const { traces } = this.#options.config
    if (traces) {
      // Late: the forty files of OpenTelemetry are for who asked for them.
      const { openTraces } = await import('./metrics/traces.ts')
      this.#traces = this.#shared.use(openTraces(traces, this.#options.log))
    }
    for (const catalog of this.#configured.catalogs) await this.#openCatalog(catalog)
    if (this.#intake !== 'elsewhere') {
      this.#waiting = this.#waitForLock().catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#options.onFatal(error)
      })
    }
    await this.#openConsole()
  }

  /**
   * Changes to another configuration: what it does not concern goes on. When it cannot be opened, the former one is opened
   * again and the reason is thrown.
   */
  reload(next: Configured, changes: ConfigChanges): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#stop.signal.aborted) return
      for (const catalog of next.catalogs) checkAccess(this.#options, catalog)
      // Before the one that runs is closed: its files may be gone, too, and then it would not open again.
      const { console } = next.config
      if (console && this.#options.roles.has('console')) await checkConsole(console)
      const former = this.#configured
      try {
        await this.#change(next, changes)
      } catch (error) {
        await this.#change(former, changes).catch(this.#options.onFatal)
        throw error
      }
    })
  }

  /** An alert tells of it until it is over (undefined). */
  noteRefusal(reason: string | undefined): void {
    this.#refusal = reason
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#closeConsole()
    await this.#waiting
    await this.#turn
    await this.#alerts?.[Symbol.asyncDispose]()
    for (const catalog of [...this.#catalogs.values()].reverse()) await catalog[Symbol.asyncDispose]()
    await this.#lock?.[Symbol.asyncDispose]()
    await this.#shared.disposeAsync()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #change(next: Configured, { catalogs, deliveries, ...changes }: ConfigChanges): Promise<void> {
    await this.#alerts?.[Symbol.asyncDispose]()
    this.#alerts = undefined
    if (changes.console) await this.#closeConsole()
    const before = [...this.#catalogs.keys()].filter((name) => catalogs.has(name))
    for (const name of before) {
      const closing = this.#catalogs.get(name)
      this.#catalogs.delete(name)
      await closing?.[Symbol.asyncDispose]()
    }
    this.#configured = next
    for (const catalog of next.catalogs) {
      const running = this.#catalogs.get(catalog.name)
      if (running === undefined) await this.#openCatalog(catalog)
      else if (deliveries.has(catalog.name)) await running.replaceDelivery(catalog)
    }
    if (changes.console) await this.#openConsole()
    await this.#openAlerts()
  }

  async #openCatalog(catalog: CatalogConfig): Promise<void> {
    const { config } = this.#configured
    const isElsewhere = this.#intake === 'elsewhere' || this.#intake === 'standby'
    const given = { config, catalog, watchdog: this.#watchdog, meter: this.#meterOf(catalog.name) }
    const opened = new CatalogService({ ...this.#options, ...given, isElsewhere })
    this.#catalogs.set(catalog.name, opened)
    if (this.#lock) await opened.openIntake()
  }

  /** In the background: then this process accepts and imports until it is closed. */
  async #waitForLock(): Promise<void> {
    const { config, clock, log, onStandby, onActive, onFatal } = this.#options
    const lock = await openStateLock({
      file: join(config.stateDir, 'lock'),
      clock,
      onLost: onFatal,
      onStandby: (holder) => {
        this.#enter('standby')
        onStandby?.(holder)
      },
      signal: this.#stop.signal,
    })
    await this.#inTurn(async () => {
      this.#lock = lock
      this.#enter('starting')
      if (await isOpenToOthers(config.stateDir)) {
        log.warn(
          { stateDir: config.stateDir },
          'other users of this machine may enter the state folder, although not what catalogd makes in it: chmod o-rwx it',
        )
      }
      for (const catalog of this.#catalogs.values()) await catalog.openIntake()
      await this.#openAlerts()
      this.#enter('active')
      onActive?.()
    })
  }

  #enter(state: IntakeState): void {
    this.#intake = state
    for (const catalog of this.#catalogs.values()) catalog.isElsewhere = state === 'standby'
  }

  async #openAlerts(): Promise<void> {
    const { connections, clock, log, onFatal, watchesDropFolders } = this.#options
    const { config, catalogs } = this.#configured
    if (!this.#lock || !config.alerts || watchesDropFolders === false) return
    const watched = catalogs.flatMap((catalog) => {
      const intake = this.#catalogs.get(catalog.name)?.intake
      return intake ? [{ catalog, manifest: intake.manifest, mirror: intake.mirror }] : []
    })
    this.#alerts = await openAlerts({
      ...{ config: config.alerts, stateDir: config.stateDir, catalogs: watched },
      ...{ connections, clock, log, onFatal, configRefusal: () => this.#refusal },
    })
  }

  async #closeConsole(): Promise<void> {
    await this.#console?.[Symbol.asyncDispose]()
    this.#console = undefined
  }

  async #openConsole(): Promise<void> {
    const { connections, clock, log, roles: own, pages } = this.#options
    const { console: config, stateDir } = this.#configured.config
    if (!own.has('console') || !config) return
    this.#console = await openDaemonConsole({
      ...{ config, stateDir, connections, clock, log, pages: pages?.(() => this.#configured) },
      catalogs: () => this.#metered(),
      intake: () => this.#intake,
    })
  }

  #metered(): MeteredCatalog[] {
    const { config, catalogs } = this.#configured
    return catalogs.map((catalog) => ({
      ...{ catalog, meter: this.#meterOf(catalog.name), dir: stateDirOf(config, catalog.name) },
      intake: this.#catalogs.get(catalog.name)?.intake,
    }))
  }

  #meterOf(name: CatalogName): CatalogMeter {
    const meter = this.#meters.get(name) ?? new CatalogMeter(this.#options.clock, this.#traces?.of(name))
    this.#meters.set(name, meter)
    return meter
  }
}
