import { join } from 'node:path'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { OperatingError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { redactText } from '../lib/redact.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { Access, type TokenLimit } from './access.ts'
import { registerActions } from './actions.ts'
import { Assets } from './assets.ts'
import { AuditLog } from './audit-log.ts'
import { registerBoard } from './board.ts'
import type { Configured } from './configured.ts'
import { registerDownloads } from './downloads.ts'
import { Figures } from './figures.ts'
import { Fresh } from './fresh.ts'
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

export interface PagesOptions extends Pick<PageSources, 'clock' | 'settings'> {
  configured: () => Configured
  limit: TokenLimit
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
  const { configured, limit, clock, log } = options
  const { config } = configured()
  if (config.console === undefined) return
  const thread = new ReadThread(options)
  const figures = new Figures(options)
  const keeper = new IndexKeeper({ ...options, thread, figures })
  app.addHook('onClose', async () => {
    await keeper[Symbol.asyncDispose]()
    figures[Symbol.dispose]()
    await thread[Symbol.asyncDispose]()
  })
  const access = new Access(config.console, { clock, limit })
  const audit = new AuditLog(join(config.stateDir, 'audit.ndjson'), clock)
  const assets = new Assets()
  const notes = new Notes()
  const status = new Fresh(() => thread.read('status'), { clock, version: () => configured().config })
  const sources: PageSources = { ...options, thread, status: () => status.read(), figures, audit }
  const live = new LivePages(app, clock)
  readForms(app)
  assets.register(app)
  registerLogin(app, { access, audit, assets, limit, log })
  registerActions(app, {
    ...{ access, audit, assets, notes, thread, configured, clock },
    onDone: () => status.forget(),
  })
  registerBoard(app, { access, ...options })
  registerDownloads(app, {
    access,
    thread,
    catalogOf: (name) => catalogOf(configured(), name),
    refuse: (reply, error) => refusePage(reply, error, { assets, log }),
  })
  for (const page of pages) {
    app.get<PageRoute>(page.path, async (request, reply) => {
      const session = await enter(request, reply, access)
      if (!session) return reply
      const { params, query } = request
      const viewNow = (): View => ({
        ...{ ...sources, ...configured(), session, query, id: params.id ?? '', here: request.url },
        ...{ nowMs: clock.now(), catalog: catalogOf(configured(), query.catalog) },
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

interface PageRoute {
  Params: { id?: string }
  Querystring: Record<string, string>
}

function catalogOf({ catalogs }: Configured, name: string | undefined) {
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
