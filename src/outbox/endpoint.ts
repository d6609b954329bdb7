import type { ApiConfig } from '../config/model.ts'

/**
 * What tells one endpoint from another: its address without user-info, query and trailing slashes, and the account where
 * one address serves several. Never a token, which may be renewed.
 */
export function endpointOf({ url, account }: Pick<ApiConfig, 'url' | 'account'>): string {
  const { origin, pathname } = url.value()
  const address = `${origin}${pathname.replace(/\/+$/, '')}`
  return account === undefined ? address : `${address}#${encodeURIComponent(account)}`
}
