import { isIP } from 'node:net'
import { kindOfAddress } from './address-kind.ts'
import { isLocalName } from './page-origin.ts'

/** Why an address cannot be the base address of an API, or undefined when it can. */
export function baseAddressProblem(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined) return 'expected an address such as https://api.example.com'
  if (url.protocol === 'http:' && !isThisMachine(url.hostname)) {
    return 'expected https: a key that is sent over plain HTTP is revoked at once'
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return 'expected an address that begins with https://'
  if (url.username !== '' || url.password !== '') return 'expected an address without user and password'
  if (url.search !== '' || url.hash !== '') return 'expected an address without ? and #'
  return undefined
}

/** Why an address cannot be that of a webhook, or undefined when it can. Plain HTTP within a network is up to the operator. */
export function webhookAddressProblem(address: string): string | undefined {
  const expected = 'expected an address such as https://hooks.example/…; credentials go into headers'
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return expected
  if (url.username !== '' || url.password !== '') return expected
  if (url.protocol === 'https:' || isThisMachine(url.hostname) || isInside(url.hostname)) return undefined
  return 'expected https: over plain HTTP others can read the address, which is a secret'
}

/** Addresses of private networks, and names without a dot, which only such networks know. */
function isInside(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '')
  return isIP(address) === 0 ? !address.includes('.') : kindOfAddress(address) === 'private'
}

/** Names and addresses that never leave this machine; those of IPv6 with brackets or without. */
export function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isLocalName(host) || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
