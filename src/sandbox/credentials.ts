/** Which token opens which group, in the words of the contract. */
const names = {
  products: { token: 'API_PRODUCTS token', calls: 'product upserts' },
  email: { token: 'Email token', calls: 'consent calls' },
  intent: { token: 'API_LIM token', calls: 'shopper-intent requests' },
  stack: { token: 'access token of the Stack', calls: 'calls of the content-aggregation API' },
} as const

export type TokenKind = keyof typeof names
export type SandboxTokens = Readonly<Record<TokenKind, string>>

/** Taken where no other is chosen. Anybody may know them: they open a sandbox and nothing else. */
export const defaultTokens: SandboxTokens = {
  products: 'sandbox-token',
  email: 'sandbox-email-token',
  intent: 'sandbox-intent-token',
  stack: 'sandbox-stack-token',
}
export const defaultStackName = 'sandbox'

/** Why HTTP Basic credentials are not taken, fit to be shown; undefined when they are. */
export function basicProblem(
  authorization: string | undefined,
  kind: 'products' | 'email',
  tokens: SandboxTokens,
): string | undefined {
  const match = /^basic\s+(\S+)$/i.exec(authorization ?? '')
  if (!match) {
    return `send HTTP Basic credentials: an empty user name and the ${names[kind].token} as password`
  }
  const credentials = Buffer.from(match[1] ?? '', 'base64').toString('utf8')
  if (!credentials.startsWith(':')) return 'the user name must be empty; the token is the password'
  return tokenProblem(credentials.slice(1), kind, tokens)
}

/** The same for a header `Authorization: Bearer …`. */
export function bearerProblem(authorization: string | undefined, tokens: SandboxTokens): string | undefined {
  const match = /^bearer\s+(\S+)$/i.exec(authorization ?? '')
  if (match) return tokenProblem(match[1] ?? '', 'intent', tokens)
  return `send the header Authorization: Bearer with the ${names.intent.token}; an account without one has no shopper intent`
}

/** Why a token is not taken; a token of another kind is called by its name. */
export function tokenProblem(token: string, kind: TokenKind, tokens: SandboxTokens): string | undefined {
  if (token === tokens[kind]) return undefined
  const { token: wanted, calls } = names[kind]
  const other = (Object.keys(names) as TokenKind[]).find((one) => token === tokens[one])
  if (other === undefined) return `the token is not valid for ${kind}; ${calls} need the ${wanted}`
  return `this is the ${names[other].token}; ${calls} need the ${wanted}`
}
