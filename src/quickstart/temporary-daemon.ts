import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CatalogConfig, Config } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import { openLog } from '../lib/log.ts'
import { readCheckedConfig } from '../operations/read-config.ts'
import type { OperationContext } from '../operations/run-here.ts'
import { defaultTokens } from '../sandbox/credentials.ts'
import { openSandbox, type Sandbox } from '../sandbox/sandbox.ts'
import { openService } from '../service.ts'
import { openStorage } from '../storage.ts'
import { sampleFields } from './sample-feed.ts'

/** What `catalogd start` runs, with a sandbox to send to, on folders that go away with it. */
export interface TemporaryDaemon extends AsyncDisposable {
  /** For files before they are renamed into `dropDir`: on the same file system. */
  workDir: string
  dropDir: string
  /** Where files of marketing consents are renamed to. */
  newsletterDir: string
  sandboxUrl: string
  operation: OperationContext
  /** Rejects when the daemon cannot go on. */
  failed: Promise<never>
}

interface Options {
  clock: Clock
  signal: AbortSignal
  /** How long changes that are not urgent wait, as the configuration has it: `8s`. */
  deferredAfter: string
  /** The feed `products` as YAML, six blanks deep, when it is not the sample's. Its drop folder is `./products`. */
  productsFeed?: string
}

export async function openTemporaryDaemon({
  clock,
  signal,
  deferredAfter,
  productsFeed,
}: Options): Promise<TemporaryDaemon> {
  await using stack = new AsyncDisposableStack()
  const workDir = await mkdtemp(join(tmpdir(), 'catalogd-quickstart-'))
  stack.defer(() => rm(workDir, { recursive: true, force: true, maxRetries: 5 }))
  // What is wrong with the user's own file is shown, not logged.
  const log = openLog({ level: productsFeed === undefined ? 'warn' : 'error' })
  const productsToken = defaultTokens.products
  const sandbox = stack.use(await openSandbox({ port: 0, productsToken, clock }))
  const { config, catalog } = await writeConfig(workDir, sandbox, {
    deferredAfter,
    productsFeed: productsFeed ?? sampleFeed(),
  })
  const storage = stack.use(await openStorage({ config, clock, log, signal }))
  const { connections } = storage
  const failed = Promise.withResolvers<never>()
  // Whoever shows something races it against this; nobody may be at the moment.
  failed.promise.catch(() => undefined)
  const active = Promise.withResolvers<void>()
  stack.use(
    await openService({
      config,
      catalogs: [catalog],
      roles: new Set(['watch', 'import', 'deliver'] as const),
      connections,
      clock,
      log,
      onActive: active.resolve,
      onFatal: failed.reject,
    }),
  )
  await Promise.race([active.promise, failed.promise])
  const opened = stack.move()
  return {
    workDir,
    dropDir: join(workDir, dropFolders.products),
    newsletterDir: join(workDir, dropFolders.newsletter),
    sandboxUrl: sandbox.url,
    operation: { config, catalog, connections, clock, log, signal },
    failed: failed.promise,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const dropFolders = { products: 'products', newsletter: 'newsletter' } as const

function sampleFeed(): string {
  return `      products:
        drop: ./${dropFolders.products}
        files: { full: "*_full.csv", delta: "*_delta.csv" }
        settle: 0s
        fields:
${sampleFields.map((line) => `          ${line}\n`).join('')}`
}

/** A configuration as a merchant would write it, read and checked as every other. */
async function writeConfig(
  workDir: string,
  { url, tokens, stackName }: Sandbox,
  { deferredAfter, productsFeed }: { deferredAfter: string; productsFeed: string },
): Promise<{ config: Config; catalog: CatalogConfig }> {
  const file = join(workDir, 'catalogd.yaml')
  for (const folder of Object.values(dropFolders)) await mkdir(join(workDir, folder))
  await writeFile(
    file,
    `state: ./state
catalogs:
  main:
    api: { url: "${url}", productsToken: ${tokens.products}, emailToken: ${tokens.email} }
    deferred: { after: ${deferredAfter}, atMost: 1m }
    feeds:
${productsFeed}      newsletter:
        kind: consents
        drop: ./${dropFolders.newsletter}
        settle: 0s
intent: { url: "${url}", token: ${tokens.intent}, partnerId: quickstart }
stack: { url: "${url}", accessToken: ${tokens.stack}, name: ${stackName} }
`,
  )
  const { config } = await readCheckedConfig({ file, env: {} })
  const [catalog] = config.catalogs.values()
  if (catalog === undefined) throw new Error('the configuration of the quickstart has no catalog')
  return { config, catalog }
}
