import { dirname, resolve } from 'node:path'
import { stringify } from 'yaml'
import { isSecretName, redactedText, redactText } from '../lib/redact.ts'
import { withoutUndefined } from '../lib/without-undefined.ts'
import type { LoadedConfig } from './load.ts'
import type { FeedConfig } from './model.ts'
import { isMapping } from './parts.ts'
import type { PullInput } from './pull-schema.ts'
import { type ConfigInput, defaultSettle, type FeedInput } from './schema.ts'

/**
 * The configuration as it counts, in the words of the file: environment and defaults filled in, paths absolute,
 * secrets masked. Apart from the secrets it can be loaded again.
 */
export function printConfig(loaded: LoadedConfig): string {
  return `# ${loaded.config.file}, resolved; secrets are masked\n${stringify(describeConfig(loaded), { lineWidth: 0 })}`
}

export function describeConfig({ config, input }: LoadedConfig): Record<string, unknown> {
  const { redis, archive, history, console, alerts, traces, stack, intent } = input
  const catalogs = [...config.catalogs].map(([name, { feeds }]) => {
    const catalog = input.catalogs[name]
    const described = [...feeds].map(([feed, built]) => [
      feed,
      describeFeed(catalog?.feeds[feed], built, dirname(config.file)),
    ])
    return [name, { ...catalog, api: maskSecrets(catalog?.api), feeds: Object.fromEntries(described) }]
  })
  const sections = {
    console: maskSecrets(console),
    alerts: maskAddress(alerts),
    traces: maskAddress(traces),
    stack: maskSecrets(stack),
  }
  return withoutUndefined({
    state: config.stateDir,
    redis: maskRedis(redis),
    archive,
    history,
    ...sections,
    intent: maskSecrets(intent),
    catalogs: Object.fromEntries(catalogs),
  })
}

function maskRedis(redis: ConfigInput['redis']) {
  if (typeof redis !== 'object' || redis === null) return redactText(redis ?? '')
  return { ...redis, url: redactText(redis.url ?? '') }
}

function describeFeed(
  input: FeedInput | undefined,
  { kind, dropDir, files }: FeedConfig,
  folder: string,
): Record<string, unknown> {
  const mode = typeof input?.files === 'string' ? { mode: files[0]?.mode } : {}
  const settle = input?.done === undefined ? { settle: input?.settle ?? defaultSettle } : {}
  // The preset's keys stand there resolved.
  const { owns, missing, preset, shopUrl, currency, decimal, thousands, pull, ...ofAllKinds } = input ?? {}
  const ofProducts = kind === 'products' ? { owns, missing } : {}
  const drop = dropDir === '' ? {} : { drop: dropDir }
  return { ...ofAllKinds, ...ofProducts, ...drop, ...describePull(pull, folder), ...mode, ...settle }
}

type Section = Readonly<Record<string, unknown>>

/** Hides what its name calls a secret, and user-info of addresses. */
function maskSecrets(section: Section | undefined): Section | undefined {
  if (section === undefined) return undefined
  return Object.fromEntries(
    Object.entries(section).map(([key, text]) => [
      key,
      typeof text === 'string' && text !== '' ? maskText(key, text) : text,
    ]),
  )
}

function maskText(key: string, text: string): string {
  return isSecretName(key) ? maskValue(text) : redactText(text)
}

/** The path of a webhook's address is its secret, as are the values of its headers. */
function maskAddress(alerts: Section | undefined): Section | undefined {
  if (alerts === undefined) return undefined
  const { headers, heartbeat } = alerts
  return withoutUndefined({
    ...maskSecrets(alerts),
    url: maskPath(alerts.url),
    headers: isMapping(headers)
      ? Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, maskValue(String(value))]))
      : undefined,
    heartbeat: isMapping(heartbeat) ? { ...heartbeat, url: maskPath(heartbeat.url) } : undefined,
  })
}

function maskPath(url: unknown): unknown {
  if (typeof url !== 'string' || url === '') return url
  return URL.canParse(url) ? `${new URL(url).origin}/${redactedText}` : maskValue(url)
}

/** Headers that say what is wanted; of every other one the value may be a secret. */
const harmlessHeaders: ReadonlySet<string> = new Set(['accept', 'accept-language', 'user-agent'])

/**
 * `pull` for `config print`: files absolute; passwords, values of headers, and the query of the address masked, where
 * shops put their keys.
 */
function describePull(input: PullInput | undefined, folder: string): Record<string, unknown> {
  if (input === undefined) return {}
  const { url, headers, sftp, s3, proxy, password, passwordFile, caFile, certFile, keyFile, ...others } =
    input
  return {
    pull: withoutUndefined({
      url: url && maskQuery(url),
      headers: headers && Object.fromEntries(Object.entries(headers).map(maskHeader)),
      sftp: sftp && {
        ...sftp,
        ...mask('password', sftp.password),
        ...mask('passphrase', sftp.passphrase),
        ...absolute(
          {
            passwordFile: sftp.passwordFile,
            privateKeyFile: sftp.privateKeyFile,
            knownHosts: sftp.knownHosts,
          },
          folder,
        ),
      },
      s3: s3 && {
        ...maskSecrets(s3),
        ...absolute({ secretAccessKeyFile: s3.secretAccessKeyFile }, folder),
      },
      ...(typeof proxy === 'string' ? { proxy: redactText(proxy) } : {}),
      ...mask('password', password),
      ...absolute({ passwordFile, caFile, certFile, keyFile }, folder),
      ...others,
    }),
  }
}

/** What is left of a reference names a variable; it gives no secret away. */
function maskValue(text: string): string {
  return text === '' || /^\$\{\w+\}$/.test(text) ? text : redactedText
}

function mask(key: string, text: string | null | undefined): Record<string, string> {
  return typeof text === 'string' ? { [key]: maskValue(text) } : {}
}

function maskHeader([name, value]: [string, string]): [string, string] {
  return [name, harmlessHeaders.has(name.toLowerCase()) ? value : maskValue(value)]
}

function maskQuery(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : `${url.slice(0, at)}?${redactedText}`
}

function absolute(files: Readonly<Record<string, string | undefined>>, folder: string) {
  return Object.fromEntries(
    Object.entries(files).flatMap(([key, file]) =>
      file === undefined ? [] : [[key, resolve(folder, file)]],
    ),
  )
}
