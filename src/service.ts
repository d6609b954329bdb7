import { join } from 'node:path'
import { type AlertsOptions, openAlerts } from './alerts/open-alerts.ts'
import { type IntakeState, readHealth } from './alerts/read-health.ts'
import { openCatalogCalls } from './api/catalog-calls.ts'
import { productCalls } from './api/classify.ts'
import type { AlertsConfig, CatalogConfig, ConsoleConfig } from './config/model.ts'
import { openConsents } from './consents/open-consents.ts'
import type { ConsentStore } from './consents/store.ts'
import { openConsole, type RegisterPages } from './console/console.ts'
import { CallLog } from './delivery/call-log.ts'
import { ConsentSlots } from './delivery/consent-slots.ts'
import { newProcessName } from './delivery/process-name.ts'
import { watchedProgress } from './delivery/watched-progress.ts'
import { Delivery } from './delivery/worker.ts'
import { ImportThread } from './imports/import-thread.ts'
import { type Intake, type IntakeOptions, openIntake } from './imports/intake.ts'
import { readStateId } from './imports/state-id.ts'
import { noteUncaught } from './imports/unexpected-failures.ts'
import type { CatalogName } from './lib/brand.ts'
import { collectAtRest } from './lib/collect-at-rest.ts'
import { readVersion } from './lib/version.ts'
import { stallOf, Watchdog, watchEventLoop } from './lib/watchdog.ts'
import type { LiveMirror } from './mirror/live-mirror.ts'
import type { Offered } from './outbox/model.ts'
import type { RedisConnections } from './redis/connections.ts'
import { openTicketQueue } from './redis/tickets.ts'
import { closeToOthers, isOpenToOthers } from './sources/layout.ts'
import { openStateLock } from './sources/state-lock.ts'
import { openMirrorThread, openOutbox, type StorageOptions, stateDirOf } from './storage.ts'
import { readOldConsents, removeOldConsents } from './upgrade/old-consents.ts'

/** `watch` accepts files, `import` applies them: both need the state lock, and one process has it. */
export const roles = ['watch', 'import', 'deliver', 'console'] as const
export type Role = (typeof roles)[number]

export interface ServiceOptions extends StorageOptions {
  catalogs: readonly CatalogConfig[]
  roles: ReadonlySet<Role>
  connections: RedisConnections
  /** For people, beside pushed files and health. */
  pages?: RegisterPages
  /** Default true. */
  watchesDropFolders?: boolean
  /** Another process holds the state folder; this one waits for it to end. */
  onStandby?: (holder: { host: string; pid: number } | undefined) => void
  /** This process now accepts and imports. */
  onActive?: () => void
  /** The process cannot go on: it should end, and its supervisor start it again. */
  onFatal: (error: unknown) => void
}

/**
 * The running parts of this process. Opened downstream first (delivery, then imports, then sources) and closed in
 * reverse, so that nothing is taken in that could not be passed on.
 */
export async function openService(options: ServiceOptions): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  for (const catalog of options.catalogs) checkEmailToken(options, catalog)
  const watchdog = stack.use(new Watchdog({ onStall: (name) => options.onFatal(stallOf(name)) }))
  stack.use(watchEventLoop(options.log))
  stack.use(collectAtRest())
  process.on('uncaughtExceptionMonitor', noteUncaught)
  stack.defer(() => void process.off('uncaughtExceptionMonitor', noteUncaught))
  const intakesHere = options.roles.has('watch') || options.roles.has('import')
  const parts: CatalogParts[] = []
  for (const catalog of options.catalogs) {
    const part: CatalogParts = { catalog, watchdog, isElsewhere: !intakesHere }
    if (options.roles.has('deliver') && hasProducts(catalog))
      part.delivery = stack.use(openDeliveryWhenReady(options, part))
    parts.push(part)
  }
  let intakes: Intakes | undefined
  if (intakesHere) intakes = stack.use(openIntakes(options, parts))
  if (options.roles.has('console') && options.config.console) {
    stack.use(await openDaemonConsole(options, options.config.console, intakes))
  }
  return stack.move()
}

interface CatalogParts {
  catalog: CatalogConfig
  watchdog: Watchdog
  delivery?: RunningDelivery
  /** That this process has open. */
  mirror?: LiveMirror
  /** Another process has the mirror open: documents are read in Redis. */
  isElsewhere: boolean
}

/** Pushed files need the process that accepts; every process tells how it is. */
function openDaemonConsole(options: ServiceOptions, config: ConsoleConfig, intakes: Intakes | undefined) {
  const { catalogs, connections, clock, log } = options
  const { stateDir } = options.config
  return openConsole({
    ...{ config, catalogs, clock, log, pages: options.pages },
    acceptorOf: (name) => intakes?.opened.get(name)?.acceptPushed,
    health: () => readHealth({ connections, catalogs, stateDir, intake: intakes?.state ?? 'elsewhere' }),
  })
}

interface Intakes extends AsyncDisposable {
  state: Exclude<IntakeState, 'elsewhere'>
  /** Of catalogs whose files this process accepts now. */
  opened: Map<CatalogName, Intake>
}

/** Waits for the state lock in the background, then accepts and imports until disposed. */
function openIntakes(options: ServiceOptions, parts: readonly CatalogParts[]): Intakes {
  const { config, clock, log, onStandby, onActive, onFatal } = options
  const stop = new AbortController()
  const stack = new AsyncDisposableStack()
  const run = async () => {
    const lock = await openStateLock({
      file: join(config.stateDir, 'lock'),
      clock,
      onLost: onFatal,
      onStandby: (holder) => {
        intakes.state = 'standby'
        for (const part of parts) part.isElsewhere = true
        onStandby?.(holder)
      },
      signal: stop.signal,
    })
    intakes.state = 'starting'
    for (const part of parts) part.isElsewhere = false
    stack.use(lock)
    if (await isOpenToOthers(config.stateDir)) {
      log.warn(
        { stateDir: config.stateDir },
        'other users of this machine may enter the state folder, although not what catalogd makes in it: chmod o-rwx it',
      )
    }
    for (const part of parts) {
      await closeToOthers(stateDirOf(config, part.catalog.name))
      const openConsents = () => openCatalogConsents(options, part, stack)
      const intake = await openIntake({ ...intakeOptions(options, part), openConsents })
      intakes.opened.set(part.catalog.name, stack.use(intake))
    }
    if (config.alerts && options.watchesDropFolders !== false) {
      stack.use(await openAlerts(alertsOptions(options, config.alerts, intakes)))
    }
    intakes.state = 'active'
    onActive?.()
  }
  const intakes: Intakes = {
    state: 'starting',
    opened: new Map(),
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await running
      await stack.disposeAsync()
    },
  }
  const running = run().catch((error: unknown) => {
    if (!stop.signal.aborted) onFatal(error)
  })
  return intakes
}

function alertsOptions(options: ServiceOptions, alerts: AlertsConfig, { opened }: Intakes): AlertsOptions {
  const { catalogs, connections, clock, log, onFatal } = options
  const watched = catalogs.flatMap((catalog) => {
    const intake = opened.get(catalog.name)
    return intake ? [{ catalog, manifest: intake.manifest, mirror: intake.mirror }] : []
  })
  const { stateDir } = options.config
  return { config: alerts, stateDir, catalogs: watched, connections, clock, log, onFatal }
}

/** A variable that is not set ends the start with a clear message, before the lock is waited for. */
function checkEmailToken(options: ServiceOptions, { api, consents }: CatalogConfig): void {
  if (sendsConsents(options) && consents.feeds.size > 0) api.emailToken.value()
}

/** The process that imports them does, but for a command that only carries out a decision. */
function sendsConsents({ roles: own, watchesDropFolders = true }: ServiceOptions): boolean {
  return own.has('import') && (own.has('deliver') || watchesDropFolders)
}

function hasProducts({ feeds }: CatalogConfig): boolean {
  return [...feeds.values()].some(({ kind }) => kind === 'products')
}

/**
 * Consents stand in the state folder, which this process holds, so it delivers them, too. Undefined: the catalog has none.
 */
async function openCatalogConsents(
  options: ServiceOptions,
  { catalog }: CatalogParts,
  stack: AsyncDisposableStack,
): Promise<ConsentStore | undefined> {
  const { config, clock, onFatal } = options
  const feeds = catalog.consents.feeds.keys()
  if (catalog.consents.feeds.size === 0) return undefined
  const log = options.log.child({ catalog: catalog.name })
  const { stateDir } = config
  const dir = stateDirOf(config, catalog.name)
  const stateId = await readStateId(dir)
  const delivers = sendsConsents(options)
  const endpoint = delivers ? catalog.api.url.value().href : undefined
  const old = await readOldConsents(dir, stateDir, stateId)
  const store = await openConsents({ dir, stateId, feeds, endpoint, clock, log, onLost: onFatal, old })
  stack.use(store)
  // Durable in the store.
  await removeOldConsents(dir)
  if (delivers) {
    stack.use(new ConsentSlots({ store, catalog, clock, log, onFatal }))
  }
  return store
}

function intakeOptions(options: ServiceOptions, part: CatalogParts): IntakeOptions {
  const { config, connections, clock, log, onFatal, watchesDropFolders = true } = options
  const { catalog, watchdog, delivery } = part
  return {
    catalog,
    dir: stateDirOf(config, catalog.name),
    keepMs: config.archive.keepMs,
    connections,
    openMirror: async (manifest) => {
      const onOffered = (offered: Offered) => delivery?.wake(offered)
      const given = { catalog, manifest, watchdog, onOffered, isDelivering: options.roles.has('deliver') }
      const mirror = await openMirrorThread({ ...options, ...given })
      part.mirror = mirror
      return {
        mirror,
        openProducts: (given) => new ImportThread({ ...given, mirror: mirror.connect(), watchdog }),
        [Symbol.asyncDispose]: () => mirror[Symbol.asyncDispose](),
      }
    },
    endDelivery: async () => delivery?.[Symbol.asyncDispose](),
    watchesDropFolders: watchesDropFolders && options.roles.has('watch'),
    imports: options.roles.has('import'),
    clock,
    log: log.child({ catalog: catalog.name }),
    watchdog,
    onFatal,
  }
}

type RunningDelivery = Pick<Delivery, 'wake' | typeof Symbol.asyncDispose>

/** Redis may come later: files are imported meanwhile. */
function openDeliveryWhenReady(options: ServiceOptions, part: CatalogParts): RunningDelivery {
  const { api } = part.catalog
  // Asked for now, so that a variable that is not set ends the start with a clear message instead of the first call.
  api.url.value()
  api.productsToken.value()
  const { connections, onFatal } = options
  const stop = new AbortController()
  const opening = connections.untilFit(stop.signal).then(() => openCatalogDelivery(options, part))
  opening.catch((error: unknown) => {
    if (!stop.signal.aborted) onFatal(error)
  })
  return {
    wake: (offered) => void opening.then((delivery) => delivery.wake(offered)).catch(() => undefined),
    async [Symbol.asyncDispose]() {
      stop.abort()
      const delivery = await opening.catch(() => undefined)
      await delivery?.[Symbol.asyncDispose]()
    },
  }
}

async function openCatalogDelivery(options: ServiceOptions, part: CatalogParts): Promise<RunningDelivery> {
  const { config, connections, clock } = options
  const { catalog, watchdog } = part
  const { api, delivery } = catalog
  const log = options.log.child({ catalog: catalog.name })
  const stack = new AsyncDisposableStack()
  const client = stack.use(
    openCatalogCalls({
      url: () => api.url.value(),
      token: () => api.productsToken.value(),
      timeoutMs: delivery.timeoutMs,
      connections: delivery.concurrency + 1,
      bodyBytesMax: delivery.callBytes,
      version: readVersion(),
    }),
  )
  const processName = newProcessName()
  const dir = join(stateDirOf(config, catalog.name), 'calls')
  const callLog = stack.use(new CallLog({ dir, processName, horizonMs: delivery.horizonMs, clock, log }))
  const queue = await openTicketQueue({ connections, catalog: catalog.name, clock, log })
  const tickets = stack.use(queue)
  const worker = new Delivery({
    ...{ client, tickets, processName, clock, log, callLog },
    outbox: await openOutbox({
      ...{ catalog, connections, clock, mirrorId: () => part.mirror?.mirrorId },
      mirror: () => (part.mirror?.isCompared ? part.mirror : part.isElsewhere ? undefined : 'starting'),
    }),
    // Hosts without the mirror have their call log alone.
    noteCall: (call) => part.mirror?.noteCall(call),
    calls: productCalls,
    config: delivery,
    progress: watchedProgress(watchdog, `delivering ${catalog.name}`),
  })
  stack.use(worker)
  return { wake: (offered) => worker.wake(offered), [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
