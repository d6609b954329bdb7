import { join } from 'node:path'
import type { AlertsConfig } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { OperatingError, systemErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { AlertBook, type AlertKind, type Condition } from './alert-book.ts'
import { AlertSender, formatPayload } from './alert-sender.ts'
import { type AlertState, AlertStore } from './alert-store.ts'
import { CatalogLook, lookAtDisk, lookAtRedis, type WatchedCatalog } from './catalog-look.ts'
import { lookAtFiles } from './look-at-feeds.ts'
import { Webhook } from './webhook.ts'

export interface AlertsOptions {
  config: AlertsConfig
  stateDir: string
  /** Those whose state folder this process holds. */
  catalogs: readonly WatchedCatalog[]
  connections: RedisConnections
  clock: Clock
  log: Log
  onFatal: (error: unknown) => void
  /** Why the configuration as it stands in the file was refused; undefined: it was not. */
  configRefusal?: () => string | undefined
  /** Default 10 s. */
  lookEveryMs?: number
  /** After the first failed call of the webhook; default 2 s. */
  retryAfterMs?: number
}

const lookEveryMsDefault = 10_000
const retryAfterMsDefault = 2_000
/** Nobody can tell of these while Redis is away. */
const kindsOfDelivery: readonly AlertKind[] = [
  'credentials',
  'refuses-everything',
  'urgent-lag',
  'dead-letters',
]

/**
 * Looks every few seconds at what is wrong and tells the webhook when something begins and when it is over. What was told
 * stands in `state/alerts.json`, so a restart repeats nothing.
 */
export async function openAlerts(options: AlertsOptions): Promise<AsyncDisposable> {
  const { config, stateDir, clock, log } = options
  // Asked for now, so that a variable that is not set ends the start with a clear message.
  config.url?.value()
  config.heartbeat?.url.value()
  for (const { value } of config.headers) value.value()
  const stack = new AsyncDisposableStack()
  const store = new AlertStore({ path: join(stateDir, 'alerts.json'), log })
  const state = await store.read()
  const webhook = stack.use(new Webhook(config))
  const keep = () => store.write({ ...watch.state(), waiting: [...sender.waiting()] })
  stack.defer(keep)
  const sender = stack.use(
    new AlertSender({
      send: (payload, signal) => webhook.send(payload, signal),
      waiting: state.waiting,
      retryAfterMs: options.retryAfterMs ?? retryAfterMsDefault,
      clock,
      log,
      onChange: () => void keep(),
    }),
  )
  const watch = new AlertWatch(options, state)
  const stop = new AbortController()
  const look = async () => {
    const messages = await watch.look()
    for (const { state: told, condition } of messages) {
      log.warn({ kind: condition.kind, subject: condition.subject, state: told }, 'alert')
    }
    if (config.url) sender.add(messages.map((message) => formatPayload(message, clock)))
    await keep()
  }
  let beatAtMs = clock.monotonic()
  // Whoever hears nothing any more looks after catalogd: also where its alerts are not taken.
  const beat = async () => {
    if (!config.heartbeat || clock.monotonic() < beatAtMs || sender.waiting().length > 0) return
    beatAtMs = clock.monotonic() + config.heartbeat.everyMs
    await webhook.beat(stop.signal)
  }
  const run = async () => {
    while (!stop.signal.aborted) {
      await look()
        .then(beat)
        .catch((error: unknown) => {
          if (!isOperating(error)) throw error
          log.warn({ err: error }, 'a look for alerts failed')
        })
      await clock.sleep(options.lookEveryMs ?? lookEveryMsDefault, stop.signal).catch(() => undefined)
    }
  }
  const running = run().catch(options.onFatal)
  stack.defer(async () => {
    stop.abort()
    await running
  })
  return stack
}

/** What is wrong now, over all catalogs, and what of it is to be told. */
class AlertWatch {
  readonly #options: AlertsOptions
  readonly #looks: CatalogLook[]
  readonly #book: AlertBook
  readonly #expectedSince: Record<string, number>

  constructor(options: AlertsOptions, { entries, expectedSince }: AlertState) {
    const { catalogs, connections, config, stateDir } = options
    this.#options = options
    const { urgentLagMs, everyMs } = config
    this.#looks = catalogs.map(
      (watched) => new CatalogLook({ ...watched, stateDir, connections, urgentLagMs }),
    )
    const names = new Set<string>(catalogs.map(({ catalog }) => catalog.name))
    const known = entries.filter(({ condition: { catalog } }) => catalog === undefined || names.has(catalog))
    this.#book = new AlertBook({ everyMs, entries: known })
    this.#expectedSince = expectedSince
  }

  state(): Omit<AlertState, 'waiting'> {
    return { entries: this.#book.entries(), expectedSince: this.#expectedSince }
  }

  async look() {
    const { connections, clock, stateDir, catalogs } = this.#options
    const nowMs = clock.now()
    const ofFiles = catalogs.flatMap(({ catalog, manifest }) => {
      const expectedSinceMs = (feed: FeedName) => this.#since(`${catalog.name}/${feed}`, nowMs)
      return lookAtFiles({ catalog, manifest, nowMs, expectedSinceMs })
    })
    const disk = await lookAtDisk(stateDir)
    const redis = await connections.state()
    const ofMirrors = this.#looks.flatMap((look) => look.lookAtMirror())
    // One disk, one alert.
    const ofCatalogs = ofMirrors.filter(({ kind }) => kind !== 'disk' || disk.length === 0)
    const delivery = redis.up ? await this.#lookAtDelivery(nowMs) : undefined
    const ofConfig = lookAtConfig(this.#options.configRefusal?.())
    return this.#book.update({
      conditions: [
        ...ofConfig,
        ...ofFiles,
        ...disk,
        ...lookAtRedis(redis),
        ...ofCatalogs,
        ...(delivery ?? []),
      ],
      nowMs,
      isUnsure: (condition) => this.#isUnsure(condition, delivery !== undefined),
    })
  }

  /** Undefined: Redis does not tell. */
  async #lookAtDelivery(nowMs: number): Promise<Condition[] | undefined> {
    const { connections, log } = this.#options
    try {
      return (await Promise.all(this.#looks.map((look) => look.lookAtDelivery(nowMs)))).flat()
    } catch (error) {
      const failure = connections.explain(error)
      if (!isOperating(failure)) throw failure
      log.debug({ err: failure }, 'alerts: Redis does not tell how delivery goes on')
      return undefined
    }
  }

  #isUnsure({ kind, catalog, feed }: Condition, isRead: boolean): boolean {
    if (kind === 'late') {
      const watched = this.#options.catalogs.find((one) => one.catalog.name === catalog)
      const newest = feed === undefined ? undefined : watched?.manifest.newest(feed)
      return newest !== undefined && watched?.manifest.outcome(newest.sequence) === undefined
    }
    return !isRead && kindsOfDelivery.includes(kind)
  }

  #since(feed: string, nowMs: number): number {
    const since = this.#expectedSince[feed] ?? nowMs
    this.#expectedSince[feed] = since
    return since
  }
}

function lookAtConfig(refusal: string | undefined): Condition[] {
  if (refusal === undefined) return []
  return [
    {
      ...{ kind: 'config', subject: 'configuration', severity: 'warning', occurrence: refusal },
      message: `The changed configuration is not used, and a restart would fail: ${refusal}`,
      hint: 'Correct it, and run catalogd reload',
    },
  ]
}

/** What can pass by itself, or with an operator's help; everything else is a bug. */
function isOperating(error: unknown): boolean {
  return error instanceof OperatingError || systemErrorCode(error) !== undefined
}
