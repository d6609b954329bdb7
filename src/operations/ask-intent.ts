import { randomUUID } from 'node:crypto'
import type { IntentResponse } from '../api/contract/intent.ts'
import { IntentClient, type IntentQuestion } from '../api/intent-client.ts'
import type { Config } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import { ConfigError } from '../lib/errors.ts'

export interface IntentAccess {
  config: Config
  clock: Clock
}

/** Throws a ConfigError that names the variable and its place when the address or the token is not set. */
export function openIntent({ config, clock }: IntentAccess): IntentClient {
  const { url, network, token, partnerId, shopify, country, locale } = config.intent
  const address = url.value()
  // Asked for now, so that what is missing is said before anything else happens.
  token.value()
  return new IntentClient({
    url: address,
    network,
    token: () => token.value(),
    partnerId: partnerId.available ? partnerId.value() : undefined,
    shopify,
    country,
    locale,
    clock,
  })
}

/** Throws where neither the configuration nor `partner` says who asks. */
export function partnerOf({ intent }: Config, partner: string | undefined): string {
  if (partner !== undefined && partner !== '') return partner
  try {
    return intent.partnerId.value()
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    throw new ConfigError(cause.code, cause.message, { hint: `${cause.hint}, or give --partner`, cause })
  }
}

export interface Answered {
  /** For questions that follow up on this one. */
  chatId: string
  response: IntentResponse
}

export async function askIntent(
  client: IntentClient,
  { chatId = randomUUID(), ...question }: Omit<IntentQuestion, 'chatId'> & { chatId?: string | undefined },
  signal: AbortSignal,
): Promise<Answered> {
  return { chatId, response: await client.ask({ ...question, chatId }, { signal }) }
}
