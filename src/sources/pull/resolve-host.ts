import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { type AddressKind, kindOfAddress } from '../../lib/address-kind.ts'
import { systemErrorCode } from '../../lib/errors.ts'
import { PullError } from './pull-error.ts'

export interface Address {
  address: string
  family: 4 | 6
}

/** What names mean, and which addresses are whose. */
export interface Network {
  resolve: (hostname: string) => Promise<readonly Address[]>
  kindOf: (address: string) => AddressKind
}

/** As the operating system knows names. */
export const systemNetwork: Network = {
  async resolve(hostname) {
    const found = await lookup(hostname, { all: true })
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
  },
  kindOf: kindOfAddress,
}

interface Checking {
  /** As it stands in a URL: IPv6 in brackets. */
  hostname: string
  allowPrivate: boolean
  network: Network
}

export interface CheckedHost {
  addresses: readonly Address[]
  isPrivate: boolean
}

/**
 * Finds the addresses of a host and refuses it when one of them is not fit: names lead wherever their owner wants, also
 * into the network that catalogd runs in. Connect to what is answered here, never to the name.
 */
export async function resolveHost({ hostname, allowPrivate, network }: Checking): Promise<CheckedHost> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  const addresses =
    family === 0 ? await find(host, network) : [{ address: host, family: family === 6 ? 6 : 4 } as const]
  const kinds = addresses.map(({ address }) => network.kindOf(address))
  const position = kinds.findIndex((kind) => kind === 'unusable' || (kind === 'private' && !allowPrivate))
  const bad = addresses[position]
  if (bad) {
    const { address } = bad
    const isPrivate = kinds[position] === 'private'
    const what = isPrivate ? 'an address of a private network' : 'no address of a server'
    throw new PullError('private-address', `${host} is at ${address}, ${what}`, {
      hint: isPrivate
        ? 'If the server is one of yours, set allowPrivate: true beside its url'
        : 'Correct the address, or the name server’s answer',
    })
  }
  return { addresses, isPrivate: kinds.includes('private') }
}

async function find(host: string, network: Network): Promise<readonly Address[]> {
  try {
    const addresses = await network.resolve(host)
    if (addresses.length > 0) return addresses
  } catch (cause) {
    if (systemErrorCode(cause) === undefined) throw cause
    throw notFound(host, cause)
  }
  throw notFound(host)
}

function notFound(host: string, cause?: unknown): PullError {
  const code = systemErrorCode(cause)
  return new PullError('host-unknown', `the name ${host} has no address${code ? ` (${code})` : ''}`, {
    hint: 'Correct the name; if it is right, look at the name servers of this machine',
    cause,
  })
}

/** For a socket: answers the checked addresses, whatever the name means by now. */
export function pinnedLookup(addresses: readonly Address[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses
    if (options.all) callback(null, [...addresses])
    else if (first) callback(null, first.address, first.family)
    else callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '')
  }
}
