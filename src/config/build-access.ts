import { resolve } from 'node:path'
import { deferText, deferTokenFile, type ValueOrigin } from './deferred-values.ts'
import type { ConfigDocument } from './document.ts'
import type { ApiConfig, Deferred, IntentConfig, StackConfig } from './model.ts'
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

  url(text: string | null | undefined): Deferred<URL> {
    return deferText(text === null ? '' : text, this.#originOf('url'), (address) => new URL(address))
  }

  text(key: string, text: string | null | undefined): Deferred<string> {
    return deferText(text === null ? '' : text, this.#originOf(key), (value) => value)
  }

  /** A token in the configuration, or in a file of its own under `<key>File`. */
  token(key: string, text: string | null | undefined, file: string | undefined): Deferred<string> {
    if (file === undefined) return this.text(key, text)
    return deferTokenFile(resolve(this.#context.folder, file), this.#originOf(`${key}File`))
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
    account: input.account ?? undefined,
    productsToken: access.token('productsToken', input.productsToken, input.productsTokenFile),
    emailToken: access.token('emailToken', input.emailToken, input.emailTokenFile),
  }
}

export function buildStack(input: ConfigInput['stack'], context: AccessContext): StackConfig {
  const access = new Access(context, ['stack'])
  return {
    url: access.url(input?.url),
    accessToken: access.token('accessToken', input?.accessToken, input?.accessTokenFile),
    name: access.text('name', input?.name),
  }
}

export function buildIntent(input: ConfigInput['intent'], context: AccessContext): IntentConfig {
  const access = new Access(context, ['intent'])
  return {
    url: access.url(input?.url),
    token: access.token('token', input?.token, input?.tokenFile),
    partnerId: access.text('partnerId', input?.partnerId),
    shopify: input?.shopify === true || input?.shopify === 'true',
    country: input?.country || undefined,
    locale: input?.locale || undefined,
  }
}
