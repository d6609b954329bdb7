import { randomUUID } from 'node:crypto'
import type { ClientOptions } from '../../src/api/api-caller.ts'
import { openSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'

/**
 * Where the cases of a group run: against a sandbox of their own or, with `CATALOGD_TEST_REAL=1`, against whatever the
 * variables of the group name. A group whose variables are not all set is skipped then, and so is every case that changes
 * data, unless `ALLOW_WRITES=1`.
 */
export interface Target {
  readonly isReal: boolean
  /** The whole group is skipped, because these variables are missing. */
  readonly missing: readonly string[]
  readonly mayWrite: boolean
  /** For the name of the group: where it runs, or why it does not. */
  readonly where: string
  open(): Promise<OpenTarget>
}

export interface OpenTarget extends AsyncDisposable {
  client: Pick<ClientOptions, 'url'>
  /** By the names of the variables that hold it for a real address. */
  settings: Readonly<Record<string, string>>
}

/** Which variables a group needs, and what stands for them in a sandbox. */
const groups = {
  catalog: { url: 'CATALOG_API_URL', settings: { API_PRODUCTS_TOKEN: 'products-token' } },
  consent: { url: 'CATALOG_API_URL', settings: { API_EMAIL_TOKEN: 'sandbox-email-token' } },
  intent: {
    url: 'INTENT_URL',
    settings: { API_LIM_TOKEN: 'sandbox-intent-token', INTENT_PARTNER_ID: 'sandbox-partner' },
  },
  stack: {
    url: 'STACK_URL',
    settings: { STACK_ACCESS_TOKEN: 'sandbox-stack-token', STACK_NAME: 'sandbox' },
  },
} as const

/** May be set besides: the path of consents where there is no `/api`, and the store of a Shopify merchant. */
const optional = ['CONSENT_PATH', 'INTENT_COUNTRY', 'INTENT_LOCALE'] as const

export function targetOf(group: keyof typeof groups, environment = process.env): Target {
  const { url, settings } = groups[group]
  const names = Object.keys(settings)
  if (environment.CATALOGD_TEST_REAL !== '1') {
    return { isReal: false, missing: [], mayWrite: true, where: 'the sandbox', open: () => openOwn(settings) }
  }
  const missing = [url, ...names].filter((name) => !environment[name])
  const mayWrite = environment.ALLOW_WRITES === '1'
  const address = environment[url] ?? ''
  const given = [...names, ...optional].flatMap((name) => {
    const value = environment[name]
    return value ? [[name, value] as const] : []
  })
  return {
    isReal: true,
    missing,
    mayWrite,
    where:
      missing.length > 0
        ? `no address: ${missing.join(', ')} not set`
        : `${hostOf(address)}${mayWrite ? '' : ', without writes'}`,
    open: async () => ({
      client: { url: address },
      settings: Object.fromEntries(given),
      [Symbol.asyncDispose]: async () => {},
    }),
  }
}

/** Tells what one run creates from what else is there. */
export const runName = `catalogd-test-${randomUUID()}`

async function openOwn(settings: Readonly<Record<string, string>>): Promise<OpenTarget> {
  const sandbox: Sandbox = await openSandbox({ port: 0, productsToken: 'products-token' })
  return {
    client: { url: sandbox.url },
    settings,
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  }
}

/** Nothing else of an address is fit to be shown. */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : 'no address'
}
