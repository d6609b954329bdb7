/** Why a text is not the address of a Redis, or undefined when it is (or is empty). */
export function redisAddressProblem(address: string): string | undefined {
  if (address === '' || address.startsWith('/')) return undefined
  const isRedis = URL.canParse(address) && /^rediss?:$/.test(new URL(address).protocol)
  return isRedis
    ? undefined
    : 'expected redis://host:port, rediss://host:port, or nothing for an own redis-server'
}
