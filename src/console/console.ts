import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { type FastifyError, type FastifyInstance, fastify } from 'fastify'
import type { ConsoleConfig } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import { drainRequests } from '../lib/drain-request.ts'
import { ConfigError, describeError, systemErrorCode } from '../lib/errors.ts'
import { hostNameOf, isAddressOrLocal, isFromElsewhere } from '../lib/page-origin.ts'
import { settlesWithin } from '../lib/settles-within.ts'
import { TokenLimit } from './access.ts'
import { type MonitoringOptions, registerMonitoring } from './monitoring-routes.ts'
import { type PushOptions, registerPush } from './push-route.ts'

export interface ConsoleOptions extends PushOptions, MonitoringOptions {
  /** What people see; left out: there is none. */
  pages?: RegisterPages | undefined
  clock: Clock
}

export type RegisterPages = (app: FastifyInstance, limit: TokenLimit) => Promise<void>

export interface Console extends AsyncDisposable {
  /** Without a trailing slash; undefined while another process uses the port. */
  readonly url: string | undefined
}

const againAfterMs = 5_000
/** So long those who push may go on after the daemon was told to end. */
const graceMs = 3_000

/**
 * The HTTP server of the daemon.
 *
 * waiting for the port (another catalogd of this machine may use it) → listening → ending: what is being received gets a
 * moment, then connections are cut → closed
 */
export async function openConsole(options: ConsoleOptions): Promise<Console> {
  const { config, clock, log } = options
  const { host, port } = config.listen
  const app = newServer(options, await checkConsole(config))
  const stop = new AbortController()
  let url: string | undefined
  const listen = async () => {
    url = await app.listen({ host, port })
    log.info({ url }, 'the console listens')
  }
  let waiting: Promise<void> | undefined
  try {
    await listen()
  } catch (cause) {
    if (systemErrorCode(cause) !== 'EADDRINUSE') {
      await app.close()
      throw new ConfigError('console-listen', `the console cannot listen on ${host}:${port}`, {
        hint: 'Correct console.listen',
        cause,
      })
    }
    log.warn({ host, port }, 'another process uses the port of the console; trying again until it is free')
    waiting = untilFree(listen, { clock, signal: stop.signal })
  }
  return {
    get url() {
      return url
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await waiting
      await close(app, clock)
    },
  }
}

/** Asked for now, so that a token or a certificate that is not there ends the start, or a reload, with a clear message. */
export async function checkConsole({ token, readToken, tls }: ConsoleConfig): Promise<Tls | undefined> {
  token?.value()
  readToken?.value()
  const pair = await readTls(tls)
  try {
    if (pair) createSecureContext(pair)
  } catch (cause) {
    throw new ConfigError('console-tls', `console.tls cannot be used: ${describeError(cause)}`, {
      hint: 'certFile and keyFile have to be PEM, and belong together',
      cause,
    })
  }
  return pair
}

async function untilFree(
  listen: () => Promise<void>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
) {
  while (!signal.aborted) {
    await clock.sleep(againAfterMs, signal).catch(() => undefined)
    if (signal.aborted) return
    const isListening = await listen().then(
      () => true,
      () => false,
    )
    if (isListening) return
  }
}

async function close(app: FastifyInstance, clock: Clock): Promise<void> {
  const closed = app.close()
  if (!(await settlesWithin(clock, graceMs, closed))) app.server.closeAllConnections()
  await closed
}

type Tls = Readonly<Record<'cert' | 'key', Buffer>>

async function readTls(tls: ConsoleConfig['tls']): Promise<Tls | undefined> {
  if (tls === undefined) return undefined
  const read = (file: string) =>
    readFile(file).catch((cause: unknown) => {
      throw new ConfigError(
        'console-tls',
        `${file} of console.tls cannot be read (${systemErrorCode(cause)})`,
        {
          hint: 'Correct console.tls, or make the file readable for the user that runs catalogd',
          cause,
        },
      )
    })
  return { cert: await read(tls.certFile), key: await read(tls.keyFile) }
}

function openServer(tls: Tls | undefined): FastifyInstance {
  const settings = {
    forceCloseConnections: 'idle',
    // A large file over a slow line takes hours; a line that is silent is cut by the time-out of the connection.
    requestTimeout: 0,
    connectionTimeout: 120_000,
    return503OnClosing: true,
    routerOptions: {
      ignoreTrailingSlash: true,
      // A name that is repeated would make a list of what is a text everywhere.
      querystringParser: (text: string) => Object.fromEntries(new URLSearchParams(text)),
    },
  } as const
  // It differs in its server alone.
  return tls ? (fastify({ ...settings, https: tls }) as unknown as FastifyInstance) : fastify(settings)
}

function newServer(options: ConsoleOptions, tls: Tls | undefined): FastifyInstance {
  const { clock, log, pages } = options
  const limit = new TokenLimit(clock)
  const app = openServer(tls)
  refuseStrangers(app, options.config)
  drainRequests(app.server)
  app.setNotFoundHandler(async (_request, reply) =>
    reply.code(404).send({ error: 'not-found', message: 'there is no such page; they begin at /' }),
  )
  app.setErrorHandler<FastifyError>(async (error, _request, reply) => {
    const { statusCode = 500 } = error
    if (statusCode < 500) return reply.code(statusCode).send({ error: error.code, message: error.message })
    log.error({ err: error }, 'the console failed to answer')
    return reply.code(500).send({ error: 'failure', message: 'the console failed to answer; see its log' })
  })
  app.register(async (scope) => registerMonitoring(scope, options, limit))
  app.register(async (scope) => registerPush(scope, options, limit))
  if (pages) app.register((scope) => pages(scope, limit))
  return app
}

/**
 * A web page from elsewhere must not reach the console through the browser of somebody here. Browsers name the page's
 * origin. A page may also give its own name the address of this machine, so that all looks like one origin: the console is
 * asked by an address, as localhost, by the name it listens on, or by a configured one.
 */
function refuseStrangers(
  app: FastifyInstance,
  { listen, hosts }: Pick<ConsoleConfig, 'listen' | 'hosts'>,
): void {
  const names = new Set([listen.host.toLowerCase(), ...hosts])
  app.addHook('onRequest', async (request, reply) => {
    const { host } = request.headers
    const name = hostNameOf(host)
    if (!isAddressOrLocal(name) && !names.has(name)) {
      return reply.code(403).send({
        error: 'host',
        message: `this console is not known as ${host === undefined ? 'nothing' : `"${host}"`}`,
        hint: 'Ask it by its address or as localhost, or list the name under console.hosts',
      })
    }
    // A link may lead here from anywhere; what it shows cannot be put into another page, and changes nothing.
    const isVisit = request.method === 'GET' && request.headers['sec-fetch-dest'] === 'document'
    if (isVisit || !isFromElsewhere(request.headers)) return
    return reply
      .code(403)
      .send({ error: 'origin', message: 'web pages from elsewhere must not use the console' })
  })
}
