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

/** Why a text is not the address of a Redis, or undefined when it is (or is empty). */
export function redisAddressProblem(address: string): string | undefined {
  if (address === '' || address.startsWith('/')) return undefined
  const isRedis = URL.canParse(address) && /^rediss?:$/.test(new URL(address).protocol)
  return isRedis
    ? undefined
    : 'expected redis://host:port, rediss://host:port, or nothing for an own redis-server'
}
