/**
 * What tells one endpoint from another: its address without user-info, query and trailing slashes, and the account where
 * one address serves several. Never a token, which may be renewed.
 */
export function endpointOf({ url, account }: { url: URL; account?: string | undefined }): string {
  const address = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  return account === undefined ? address : `${address}#${encodeURIComponent(account)}`
}
