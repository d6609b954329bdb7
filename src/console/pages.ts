import { join } from 'node:path'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import { OperatingError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { redactText } from '../lib/redact.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { Access, LoginLimit } from './access.ts'
import { registerActions } from './actions.ts'
import { Assets } from './assets.ts'
import { AuditLog } from './audit-log.ts'
import { registerBoard } from './board.ts'
import { registerDownloads } from './downloads.ts'
import { Figures } from './figures.ts'
import { enter, readForms, sendPage } from './guard-pages.ts'
import { layout, messagePage } from './layout.ts'
import { LivePages } from './live.ts'
import { registerLogin } from './login.ts'
import { Notes } from './notes.ts'
import type { Page, PageSources, View } from './page.ts'
import { callPage, callsPage } from './pages/calls.ts'
import { deadLettersPage } from './pages/dead-letters.ts'
import { feedsPage } from './pages/feeds.ts'
import { importPage } from './pages/import.ts'
import { overviewPage } from './pages/overview.ts'
import { productPage } from './pages/product.ts'
import { productsPage } from './pages/products.ts'
import { settingsPage } from './pages/settings.ts'
import { ReadThread } from './read-thread.ts'
import { IndexKeeper } from './search/index-keeper.ts'

export interface PagesOptions extends Pick<PageSources, 'config' | 'catalogs' | 'clock' | 'settings'> {
  connections: RedisConnections
  log: Log
}

/** In the order of the navigation. */
const pages: readonly Page[] = [
  overviewPage,
  feedsPage,
  productsPage,
  callsPage,
  deadLettersPage,
  settingsPage,
  importPage,
  productPage,
  callPage,
]

/** The operator's pages: each is a whole page without scripts, and follows what happens with them. */
export async function registerPages(app: FastifyInstance, options: PagesOptions): Promise<void> {
  const { config, clock, log } = options
  if (config.console === undefined) return
  const thread = new ReadThread(options)
  const figures = new Figures(options)
  const keeper = new IndexKeeper({ ...options, thread, figures })
  app.addHook('onClose', async () => {
    await keeper[Symbol.asyncDispose]()
    figures[Symbol.dispose]()
    await thread[Symbol.asyncDispose]()
  })
  const access = new Access(config.console, clock)
  const audit = new AuditLog(join(config.stateDir, 'audit.ndjson'), clock)
  const assets = new Assets()
  const notes = new Notes()
  const status = freshly(() => thread.read('status'), clock)
  const sources: PageSources = { ...options, thread, status, figures, audit }
  const live = new LivePages(app, clock)
  readForms(app)
  assets.register(app)
  registerLogin(app, { access, audit, assets, limit: new LoginLimit(clock), log })
  registerActions(app, { access, audit, assets, notes, thread, catalogs: options.catalogs, clock })
  registerBoard(app, { access, ...options })
  registerDownloads(app, {
    access,
    thread,
    catalogOf: (name) => catalogOf(options, name),
    refuse: (reply, error) => refusePage(reply, error, { assets, log }),
  })
  for (const page of pages) {
    app.get<PageRoute>(page.path, async (request, reply) => {
      const session = await enter(request, reply, access)
      if (!session) return reply
      const { params, query } = request
      const viewNow = (): View => ({
        ...{ ...sources, session, query, id: params.id ?? '', here: request.url, nowMs: clock.now() },
        catalog: catalogOf(options, query.catalog),
      })
      const isStream = request.headers.accept === 'text/event-stream'
      try {
        const content = await page.render(viewNow())
        if (!isStream) {
          const note = notes.take(query.note)
          return sendPage(reply, layout(viewNow(), { head: await assets.head(), page, pages, content, note }))
        }
      } catch (error) {
        return await refusePage(reply, error, { assets, log })
      }
      live.serve(reply, {
        render: async () => (await page.render(viewNow())).text,
        samples: () => page.samples?.(viewNow()) ?? [],
        everyMs: page.everyMs,
      })
      return reply
    })
  }
}

const freshMs = 1_000
/** A reading may take this share of the time. */
const restShare = 10

/** One answer for all who ask within a second, or longer where it takes its time. */
function freshly<T>(read: () => Promise<T>, clock: Clock): () => Promise<T> {
  let last: { untilMs: number; answer: Promise<T> } | undefined
  return () => {
    const begin = clock.monotonic()
    if (last !== undefined && begin < last.untilMs) return last.answer
    const current = { untilMs: Number.POSITIVE_INFINITY, answer: read() }
    const done = (tookMs: number) => begin + Math.max(freshMs, tookMs * restShare)
    last = current
    current.answer.then(
      () => {
        current.untilMs = done(clock.monotonic() - begin)
      },
      () => {
        current.untilMs = 0
      },
    )
    return current.answer
  }
}

interface PageRoute {
  Params: { id?: string }
  Querystring: Record<string, string>
}

function catalogOf({ catalogs }: PagesOptions, name: string | undefined) {
  const [first] = catalogs
  const found = catalogs.find((catalog) => catalog.name === name) ?? first
  if (!found) throw new Error('there is no catalog')
  return found
}

async function refusePage(
  reply: FastifyReply,
  error: unknown,
  { assets, log }: { assets: Assets; log: Log },
) {
  const isOperating = error instanceof OperatingError
  if (!isOperating) log.error({ err: error }, 'a page of the console failed')
  const head = await assets.head()
  return sendPage(
    reply,
    messagePage({
      head,
      title: isOperating ? 'This cannot be shown' : 'The page failed',
      text: isOperating ? redactText(error.message) : 'The log of catalogd says why.',
      hint: isOperating ? error.hint : undefined,
    }),
    isOperating ? 404 : 500,
  )
}
