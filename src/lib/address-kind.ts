import { BlockList, isIP } from 'node:net'

/** Nobody's, everybody's, or where clouds keep the credentials of their machines: no server of feeds has one. */
const unusable4 = [
  '0.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]
/** Of this machine and of networks that the internet does not see: there, addresses are trusted for being inside. */
const private4 = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '192.88.99.0/24',
]
const unusable6 = [
  '::/128',
  'ff00::/8',
  '2001:db8::/32',
  '3fff::/20',
  '100::/64',
  'fe80::/10',
  'fd00:ec2::/32',
]
const private6 = ['::1/128', 'fc00::/7', 'fec0::/10', '64:ff9b:1::/48']
/** The only part of IPv6 that the internet routes; tunnels in it lead to IPv4 addresses that nobody has checked. */
const global6 = ['2000::/3']
const tunnels6 = ['2001::/23', '2002::/16']
/** An IPv4 address in the last bits: what counts is that one. */
const carriers = ['::ffff:', '64:ff9b::']

export type AddressKind = 'public' | 'private' | 'unusable'

/** What kind of address a server has; private also where nobody can say. */
export function kindOfAddress(address: string): AddressKind {
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (isIP(address) === 0 || address.includes('%')) return 'unusable'
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  const rules = makeRules()
  if (rules.unusable.check(address, family)) return 'unusable'
  if (rules.private.check(address, family)) return 'private'
  if (family === 'ipv4' || rules.carrier.check(address, family)) return 'public'
  return rules.global.check(address, family) ? 'public' : 'unusable'
}

function makeRules() {
  return {
    unusable: listOf(unusable4, unusable6),
    private: listOf(private4, [...private6, ...tunnels6]),
    carrier: listOf([], ['::ffff:0:0/96', '64:ff9b::/96']),
    global: listOf([], global6),
  }
}

function listOf(ranges4: readonly string[], ranges6: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges4) {
    const [net = '', bits] = range.split('/')
    list.addSubnet(net, Number(bits), 'ipv4')
    for (const carrier of carriers) list.addSubnet(carrier + net, 96 + Number(bits), 'ipv6')
  }
  for (const range of ranges6) {
    const [net = '', bits] = range.split('/')
    list.addSubnet(net, Number(bits), 'ipv6')
  }
  return list
}
