import { parseRetryAfter } from '../../lib/retry-after.ts'
import { describeUrl } from './describe-source.ts'
import type { HttpAnswer } from './http-get.ts'
import { PullError } from './pull-error.ts'

const busy: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** For an answer that brings no file. */
export function refusalOf(
  { status, headers, url }: Pick<HttpAnswer, 'status' | 'headers' | 'url'>,
  now: number,
): PullError {
  const isBusy = busy.has(status)
  return new PullError(isBusy ? 'server-busy' : 'refused', `${describeUrl(url)} answers ${status}`, {
    hint: hintOf(status, isBusy),
    retryAfterMs: isBusy ? parseRetryAfter(headers['retry-after'], now) : undefined,
  })
}

function hintOf(status: number, isBusy: boolean): string {
  if (status === 401 || status === 403) return 'Correct user and password, or headers, beside url'
  if (status === 404 || status === 410) return 'Correct url: there is no file any more'
  if (status === 429) return 'It is asked too often: raise every'
  return isBusy
    ? 'It is tried again; if it stays so, ask whoever runs the server'
    : 'Expected 200: correct url'
}
