import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

/** Whether a web page from elsewhere asks. Browsers name the page's origin; other clients send no such header. */
export function isFromElsewhere({ origin, host, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  if (origin === undefined) return site === 'cross-site'
  return URL.parse(origin)?.host !== host?.toLowerCase()
}

/** Of the header `Host`; empty where there is none. */
export function hostNameOf(host: string | undefined): string {
  return URL.parse(`http://${host ?? ''}`)?.hostname ?? ''
}

/** An address, or this machine: no name that a page could give itself. */
export function isAddressOrLocal(name: string): boolean {
  return isLocalName(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

export function isLocalName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}
