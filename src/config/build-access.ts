import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError, systemErrorCode } from '../lib/errors.ts'
import type { ConfigDocument } from './document.ts'
import { isTrue } from './leaves.ts'
import type { ApiConfig, Deferred, IntentConfig, NetworkConfig, ProxyConfig, StackConfig } from './model.ts'
import { noProxy } from './network-schema.ts'
import { type ConfigPath, formatPath } from './problems.ts'
import type { CatalogInput, ConfigInput } from './schema.ts'

/** Relative paths begin at the folder of the configuration file. */
export interface AccessContext {
  document: ConfigDocument
  folder: string
}

/** Addresses and tokens of one section: each is asked for only where it is used. */
export class Access {
  readonly #context: AccessContext
  readonly #path: ConfigPath

  constructor(context: AccessContext, path: ConfigPath) {
    this.#context = context
    this.#path = path
  }

  url(text: string | null | undefined, key = 'url'): Deferred<URL> {
    return deferText(text === null ? '' : text, this.#originOf(key), (address) => new URL(address))
  }

  text(key: string, text: string | null | undefined): Deferred<string> {
    return deferText(text === null ? '' : text, this.#originOf(key), (value) => value)
  }

  /** A token in the configuration, or in a file of its own under `<key>File`. */
  token(key: string, text: string | null | undefined, file: string | undefined): Deferred<string> {
    if (file !== undefined)
      return deferTokenFile(resolve(this.#context.folder, file), this.#originOf(`${key}File`))
    return { ...this.text(key, text), renewal: this.#renewalOf(key) }
  }

  #renewalOf(key: string): string {
    const [source] = this.#context.document.sourcesAt([...this.#path, key])
    if (source === undefined) return `at ${this.#originOf(key).place}, then run catalogd reload`
    const { name, isOfProcess, file } = source
    if (!isOfProcess) return `in ${file} (variable ${name}), then run catalogd reload`
    const also = file === undefined ? '' : `, which counts before the one in ${file}`
    return `in the environment of catalogd (variable ${name}${also}), then restart it`
  }

  /** The same, where neither says anything: undefined. */
  tokenIfGiven(...[key, text, file]: Parameters<Access['token']>): Deferred<string> | undefined {
    return text || file !== undefined ? this.token(key, text, file) : undefined
  }

  headers(headers: Readonly<Record<string, string>> = {}): { name: string; value: Deferred<string> }[] {
    const access = new Access(this.#context, [...this.#path, 'headers'])
    return Object.entries(headers).map(([name, value]) => ({ name, value: access.text(name, value) }))
  }

  #originOf(key: string): ValueOrigin {
    const { document } = this.#context
    const path = [...this.#path, key]
    const { line, column } = document.positionOf(path)
    const place = `${document.file}:${line}:${column} ${formatPath(path)}`
    return { place, unset: document.unsetAt(path), empty: document.emptyAt(path) }
  }
}

export function buildApi(input: CatalogInput['api'], path: ConfigPath, context: AccessContext): ApiConfig {
  const access = new Access(context, path)
  return {
    url: access.url(input.url),
    network: buildNetwork(input, path, context),
    account: input.account ?? undefined,
    productsToken: access.token('productsToken', input.productsToken, input.productsTokenFile),
    emailToken: access.token('emailToken', input.emailToken, input.emailTokenFile),
  }
}

export function buildStack(input: ConfigInput['stack'], context: AccessContext): StackConfig {
  const access = new Access(context, ['stack'])
  return {
    url: access.url(input?.url),
    network: buildNetwork(input, ['stack'], context),
    accessToken: access.token('accessToken', input?.accessToken, input?.accessTokenFile),
    name: access.text('name', input?.name),
  }
}

export function buildIntent(input: ConfigInput['intent'], context: AccessContext): IntentConfig {
  const access = new Access(context, ['intent'])
  return {
    url: access.url(input?.url),
    network: buildNetwork(input, ['intent'], context),
    token: access.token('token', input?.token, input?.tokenFile),
    partnerId: access.text('partnerId', input?.partnerId),
    shopify: isTrue(input?.shopify),
    country: input?.country || undefined,
    locale: input?.locale || undefined,
  }
}

interface NetworkInput {
  proxy?: string | null | undefined
  caFile?: string | undefined
  certFile?: string | undefined
  keyFile?: string | undefined
}

/** `path`: of the section that they stand in. */
export function buildNetwork(
  input: NetworkInput | undefined,
  path: ConfigPath,
  context: AccessContext,
): NetworkConfig {
  const inFolder = (file: string | undefined) => file && resolve(context.folder, file)
  return {
    proxy: buildProxy(input?.proxy, path, context),
    caFile: inFolder(input?.caFile),
    certFile: inFolder(input?.certFile),
    keyFile: inFolder(input?.keyFile),
  }
}

function buildProxy(
  text: string | null | undefined,
  path: ConfigPath,
  context: AccessContext,
): ProxyConfig | undefined {
  if (text === noProxy) return undefined
  if (text) return { kind: 'configured', url: new Access(context, path).url(text, 'proxy') }
  const read = (name: string) =>
    context.document.variable(name) ?? context.document.variable(name.toLowerCase()) ?? ''
  return {
    kind: 'environment',
    https: read('HTTPS_PROXY'),
    http: read('HTTP_PROXY'),
    except: read('NO_PROXY'),
  }
}

/** Where a value stands in the configuration, for the message of one that is not there. */
interface ValueOrigin {
  /** `file:line:column path`. */
  place: string
  /** Variables that it needs and that are not set. */
  unset: readonly string[]
  /** Variables that leave it empty. */
  empty: readonly string[]
}

/** A text of the configuration that may need a variable which is not set; `parse` runs on a text that is there. */
function deferText<T>(
  text: string | undefined,
  { place, unset, empty }: ValueOrigin,
  parse: (text: string) => T,
): Deferred<T> {
  const value = () => {
    const [name] = unset
    if (name !== undefined) {
      throw new ConfigError('variable-unset', `${place}: the environment variable ${name} is not set`, {
        hint: `Set ${name}, or write a default as \${${name}:-…}`,
      })
    }
    if (!text) {
      const found = text === undefined ? 'is missing' : 'is empty'
      throw new ConfigError('value-empty', `${place}: ${found}`, {
        hint: empty.length === 0 ? 'Give it a value' : `Set ${empty.join(' and ')}, or give it a value`,
      })
    }
    return parse(text)
  }
  return { available: unset.length === 0 && Boolean(text), value }
}

/** A token in a file of its own: read at every use, so that a new token needs no restart. */
function deferTokenFile(file: string, origin: ValueOrigin): Deferred<string> {
  const { place } = origin
  const path = deferText(file, origin, (text) => text)
  const value = () => readToken(path.value(), place)
  return {
    get available() {
      try {
        return value() !== ''
      } catch (error) {
        if (error instanceof ConfigError) return false
        throw error
      }
    },
    renewal: `in ${file}, which is read again at every try`,
    value,
  }
}

function readToken(file: string, place: string): string {
  const token = readText(file, place).replace(/\r?\n$/, '')
  if (token === '' || /[\r\n]/.test(token)) {
    const found = token === '' ? 'is empty' : 'has several lines'
    throw new ConfigError('token-file', `${place}: ${file} ${found}, expected the token in one line`, {
      hint: 'Write the token into it',
    })
  }
  return token
}

function readText(file: string, place: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const code = systemErrorCode(cause)
    if (code === undefined) throw cause
    throw new ConfigError('token-file', `${place}: ${file} cannot be read (${code})`, {
      hint: 'Create it with the token in one line, readable for the user that runs catalogd',
      cause,
    })
  }
}
