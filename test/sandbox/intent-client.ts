import type { IntentResponse, Recommendation } from '../../src/api/contract/intent.ts'
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts'
import { type Answer, openTestSandbox, type TestSandbox } from './harness.ts'
import { intentCatalogue } from './intent-catalogue.ts'

export const intentToken = 'intent-token-of-the-tests'

/** The required fields of a request, for shopper and conversation 1. */
export const identity = { customerId: 'shopper-1', partnerId: 'partner-1', chatId: 'chat-1' }

export interface IntentSandbox extends TestSandbox {
  /** With the fields of `identity` unless others are given. */
  ask(prompt: string, more?: Record<string, unknown>): Promise<IntentResponse>
  /** The ids of the answer, best first. */
  idsFor(prompt: string, more?: Record<string, unknown>): Promise<string[]>
  post(body: string, headers?: Record<string, string>, query?: string): Promise<Answer>
}

/** A sandbox that holds these products. */
export async function openIntentSandbox(
  products: readonly object[] = intentCatalogue,
  options: Partial<SandboxOptions> = {},
): Promise<IntentSandbox> {
  const sandbox = await openTestSandbox({ intentToken, ...options })
  const post: IntentSandbox['post'] = async (body, headers = {}, query = '') => {
    const response = await fetch(`${sandbox.url}/api${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${intentToken}`, 'content-type': 'application/json', ...headers },
      body,
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const ask: IntentSandbox['ask'] = async (prompt, more = {}) => {
    const { status, text } = await post(JSON.stringify({ ...identity, prompt, ...more }))
    if (status !== 200) throw new Error(`the prompt was answered ${status}: ${text}`)
    return JSON.parse(text) as IntentResponse
  }
  const taken = await sandbox.upsert(products)
  if (taken.status !== 200) throw new Error(`the catalogue was answered ${taken.status}: ${taken.text}`)
  return {
    ...sandbox,
    post,
    ask,
    idsFor: async (prompt, more) =>
      recommendations(await ask(prompt, more)).map(({ productId }) => productId),
  }
}

export function recommendations(answer: IntentResponse): Recommendation[] {
  return answer.agentProductRecommendations ?? []
}
