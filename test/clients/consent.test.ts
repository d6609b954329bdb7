import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiCallError, ApiResponseError, ContractError } from '../../src/api/api-error.ts'
import { ConsentClient } from '../../src/api/consent-client.ts'
import { type OpenTarget, runName, targetOf } from './target.ts'

const target = targetOf('consent')
/** At a host name that belongs to nobody. */
const email = `${runName}+consent@example.com`

describe.skipIf(target.missing.length > 0)(`ConsentClient at ${target.where}`, () => {
  let opened: OpenTarget
  let client: ConsentClient
  const openClient = (token: string) =>
    new ConsentClient({ ...opened.client, token, path: opened.settings.CONSENT_PATH })
  beforeAll(async () => {
    opened = await target.open()
    client = openClient(opened.settings.API_EMAIL_TOKEN ?? '')
  })
  afterAll(async () => {
    await client?.close()
    await opened?.[Symbol.asyncDispose]()
  })

  it('is told that a token is wrong, and of which kind it must be', async () => {
    const wrong = `wrong-${runName}`
    await using other = openClient(wrong)
    const error = await other.set(email, false).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiResponseError)
    const { status, hint, message } = error as ApiResponseError
    expect([401, 403]).toContain(status)
    expect(hint).toContain('Email token')
    expect(message + JSON.stringify(error)).not.toMatch(new RegExp(`${wrong}|@|%40`))
  })

  it.each(['nobody', 'a b@example.com', 'a@', ''])(
    'sends nothing for an address that is none: %j',
    async (wrong) => {
      const error = await client.set(wrong, true).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ContractError)
      expect((error as ContractError).problems.map(({ field }) => field)).toEqual(['email'])
      if (wrong !== '') expect((error as Error).message).not.toContain(wrong)
    },
  )

  it('gives a call up', async () => {
    const error = await client
      .set(email, false, { signal: AbortSignal.abort('enough') })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiCallError)
    expect(error).toMatchObject({ code: 'call-aborted', cause: 'enough', mayHaveTakenEffect: false })
  })

  it.skipIf(!target.mayWrite)('grants and revokes, again and again', async () => {
    try {
      await client.set(email, true)
      await client.set(email, true)
    } finally {
      await client.set(email, false)
    }
    await client.set(email, false)
  })
})
