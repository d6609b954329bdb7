import { createHash, timingSafeEqual } from 'node:crypto'

/** `missing`: none was shown; `wrong`: another one. */
export type Shown = 'right' | 'missing' | 'wrong'

/** Compares what a request shows with the token, in a time that tells nothing of either. */
export function checkToken(authorization: string | undefined, token: string): Shown {
  const shown = authorization === undefined ? undefined : tokenIn(authorization)
  if (shown === undefined) return 'missing'
  return timingSafeEqual(digestOf(shown), digestOf(token)) ? 'right' : 'wrong'
}

/** `Bearer <token>`, or Basic credentials with the token as password, as curl -u sends them. */
function tokenIn(authorization: string): string | undefined {
  const [, scheme = '', value = ''] = /^(\w+) +(\S+) *$/.exec(authorization) ?? []
  if (/^bearer$/i.test(scheme)) return value
  if (!/^basic$/i.test(scheme)) return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
