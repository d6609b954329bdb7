import { isIP } from 'node:net'

/** Why an address cannot be the base address of an API, or undefined when it can. */
export function baseAddressProblem(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined) return 'expected an address such as https://api.example.com'
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'expected https: a key that is sent over plain HTTP is revoked at once'
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return 'expected an address that begins with https://'
  if (url.username !== '' || url.password !== '') return 'expected an address without user and password'
  if (url.search !== '' || url.hash !== '') return 'expected an address without ? and #'
  return undefined
}

/** Names and addresses that never leave this machine. */
function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true
  return isIP(hostname) === 4 && hostname.startsWith('127.')
}
