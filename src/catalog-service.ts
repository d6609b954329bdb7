import { hostname } from 'node:os'
import { join } from 'node:path'
import { openCatalogCalls } from './api/catalog-calls.ts'
import { productCalls, withTokenOf } from './api/classify.ts'
import { openMirrorThread, openOutbox } from './catalog-storage.ts'
import type { CatalogConfig } from './config/model.ts'
import { openConsents } from './consents/open-consents.ts'
import type { ConsentStore } from './consents/store.ts'
import { CallLog } from './delivery/call-log.ts'
import { ConsentSlots } from './delivery/consent-slots.ts'
import { OtherDeliverers } from './delivery/other-deliverers.ts'
import { newProcessName } from './delivery/process-name.ts'
import { watchedProgress } from './delivery/watched-progress.ts'
import { Delivery } from './delivery/worker.ts'
import { ImportThread } from './imports/import-thread.ts'
import { type Intake, type IntakeOptions, openIntake } from './imports/intake.ts'
import { readStateId } from './imports/state-id.ts'
import { readVersion } from './lib/version.ts'
import type { Watchdog } from './lib/watchdog.ts'
import type { CatalogMeter } from './metrics/catalog-meter.ts'
import { packIds } from './mirror/calls.ts'
import type { LiveMirror } from './mirror/live-mirror.ts'
import { endpointOf } from './outbox/endpoint.ts'
import { catalogKeys } from './outbox/keys.ts'
import type { Offered } from './outbox/model.ts'
import { tellCall } from './outbox/told-calls.ts'
import type { RedisConnections } from './redis/connections.ts'
import { openTicketQueue } from './redis/tickets.ts'
import { closeToOthers } from './sources/layout.ts'
import { type StorageOptions, stateDirOf } from './storage.ts'
import { readOldConsents, removeOldConsents } from './upgrade/old-consents.ts'

export interface CatalogServiceOptions extends StorageOptions {
  catalog: CatalogConfig
  roles: ReadonlySet<string>
  connections: RedisConnections
  watchdog: Watchdog
  meter: CatalogMeter
  /** Default true. */
  watchesDropFolders?: boolean
  /** The process cannot go on: it should end, and its supervisor start it again. */
  onFatal: (error: unknown) => void
}

type Tasks = Pick<CatalogServiceOptions, 'roles' | 'watchesDropFolders'>

/**
 * The running parts of one catalog.
 *
 * opened: delivers, by its roles → accepting and importing, too, once this process holds the state folder → closed:
 * accepting ends first, then importing, then delivering. The delivery may be replaced meanwhile.
 */
export class CatalogService implements AsyncDisposable {
  readonly #options: CatalogServiceOptions
  #catalog: CatalogConfig
  #delivery: RunningDelivery | undefined
  #mirror: LiveMirror | undefined
  #intake: { opened: Intake; stack: AsyncDisposableStack } | undefined
  /** Another process has the mirror open: documents are read in Redis. */
  isElsewhere: boolean

  constructor(options: CatalogServiceOptions & { isElsewhere: boolean }) {
    this.#options = options
    this.#catalog = options.catalog
    this.isElsewhere = options.isElsewhere
    this.#openDelivery()
  }

  /** Undefined: this process does not accept files of the catalog, or not yet. */
  get intake(): Intake | undefined {
    return this.#intake?.opened
  }

  async openIntake(): Promise<void> {
    const { config } = this.#options
    await using stack = new AsyncDisposableStack()
    await closeToOthers(stateDirOf(config, this.#catalog.name))
    const openConsents = () => this.#openConsents(stack)
    const opened = stack.use(await openIntake({ ...this.#intakeOptions(), openConsents }))
    this.#intake = { opened, stack: stack.move() }
  }

  /** Of calls, nothing else: running ones are finished by the old delivery. */
  async replaceDelivery(catalog: CatalogConfig): Promise<void> {
    await this.#delivery?.[Symbol.asyncDispose]()
    this.#catalog = catalog
    this.#openDelivery()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#intake?.stack.disposeAsync()
    await this.#delivery?.[Symbol.asyncDispose]()
  }

  #openDelivery(): void {
    const { roles } = this.#options
    if (!hasProducts(this.#catalog)) return
    if (roles.has('deliver')) this.#delivery = this.#openWhenReady(() => this.#openDeliveryNow())
    else if (roles.has('import')) this.#delivery = this.#openWhenReady(() => this.#openOtherDeliverers())
  }

  #intakeOptions(): IntakeOptions {
    const { config, connections, clock, log, onFatal, watchesDropFolders = true } = this.#options
    const { roles, watchdog, meter } = this.#options
    const catalog = this.#catalog
    return {
      catalog,
      dir: stateDirOf(config, catalog.name),
      keepMs: config.archive.keepMs,
      connections,
      openMirror: async (manifest) => {
        const onOffered = (offered: Offered) => this.#delivery?.wake(offered)
        const given = { catalog, manifest, watchdog, onOffered, isDelivering: roles.has('deliver') }
        const mirror = await openMirrorThread({ ...this.#options, ...given })
        this.#mirror = mirror
        return {
          mirror,
          openProducts: (given) => new ImportThread({ ...given, mirror: mirror.connect(), watchdog }),
          [Symbol.asyncDispose]: () => mirror[Symbol.asyncDispose](),
        }
      },
      endDelivery: async () => this.#delivery?.[Symbol.asyncDispose](),
      watchesDropFolders: watchesDropFolders && roles.has('watch'),
      imports: roles.has('import'),
      clock,
      log: log.child({ catalog: catalog.name }),
      watchdog,
      meter,
      onFatal,
    }
  }

  /**
   * Consents stand in the state folder, which this process holds, so it delivers them, too. Undefined: the catalog has none.
   */
  async #openConsents(stack: AsyncDisposableStack): Promise<ConsentStore | undefined> {
    const { config, clock, onFatal } = this.#options
    const catalog = this.#catalog
    const feeds = catalog.consents.feeds.keys()
    if (catalog.consents.feeds.size === 0) return undefined
    const log = this.#options.log.child({ catalog: catalog.name })
    const { stateDir } = config
    const dir = stateDirOf(config, catalog.name)
    const stateId = await readStateId(dir)
    const delivers = sendsConsents(this.#options)
    const endpoint = delivers ? endpointOf(catalog.api) : undefined
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

  /** Redis may come later: files are imported meanwhile. */
  #openWhenReady(open: () => Promise<RunningDelivery>): RunningDelivery {
    const { connections, onFatal } = this.#options
    const stop = new AbortController()
    const opening = connections.untilFit(stop.signal).then(open)
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

  async #openOtherDeliverers(): Promise<RunningDelivery> {
    const { connections, clock } = this.#options
    const { name: catalog } = this.#catalog
    const log = this.#options.log.child({ catalog })
    const queue = await openTicketQueue({ connections, catalog, clock, log })
    const others = new OtherDeliverers(queue, log)
    return {
      wake: (offered) => others.wake(offered),
      [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
    }
  }

  async #openDeliveryNow(): Promise<RunningDelivery> {
    const { config, connections, clock, watchdog, meter } = this.#options
    const catalog = this.#catalog
    const { api, delivery } = catalog
    const log = this.#options.log.child({ catalog: catalog.name })
    const stack = new AsyncDisposableStack()
    // A catalog that a reload closes is watched no longer, however much of it was due.
    const work = stack.use(watchdog.watch(`delivering ${catalog.name}`))
    const client = stack.use(
      openCatalogCalls({
        url: () => api.url.value(),
        network: api.network,
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
      ...{ client, tickets, processName, clock, log, callLog, meter },
      outbox: await openOutbox({
        ...{ catalog, connections, clock, mirrorId: () => this.#mirror?.mirrorId },
        mirror: () => (this.#mirror?.isCompared ? this.#mirror : this.isElsewhere ? undefined : 'starting'),
      }),
      noteCall: (call) => {
        if (this.#mirror) return this.#mirror.noteCall(call)
        if (config.history.callsBytes === 0) return
        const told = { ...call, host: hostname(), ids: packIds(call.ids) }
        tellCall(connections.commands, catalogKeys(catalog.name), told).catch((error: unknown) =>
          log.debug({ err: error }, 'a call could not be told'),
        )
      },
      calls: withTokenOf(productCalls, api.productsToken),
      readToken: () => api.productsToken.value(),
      config: delivery,
      progress: watchedProgress(work),
    })
    stack.use(worker)
    return { wake: (offered) => worker.wake(offered), [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }
}

interface RunningDelivery extends AsyncDisposable {
  wake(offered: Offered): void
}

/** What is not set is told with a clear message now, instead of with the first call. */
export function checkAccess(options: Tasks, { api, consents, feeds }: CatalogConfig): void {
  if (sendsConsents(options) && consents.feeds.size > 0) api.emailToken.value()
  if (!options.roles.has('deliver') || !hasProducts({ feeds })) return
  api.url.value()
  api.productsToken.value()
}

/** The process that imports them does, but for a command that only carries out a decision. */
function sendsConsents({ roles, watchesDropFolders = true }: Tasks): boolean {
  return roles.has('import') && (roles.has('deliver') || watchesDropFolders)
}

function hasProducts({ feeds }: Pick<CatalogConfig, 'feeds'>): boolean {
  return [...feeds.values()].some(({ kind }) => kind === 'products')
}
