const backoffBaseMs = 500
const backoffCapMs = 30_000

/** Full jitter: anything between nothing and a bound that doubles with each failure, so that processes spread out. */
export function backoffMs(failures: number, random: () => number): number {
  const bound = Math.min(backoffCapMs, backoffBaseMs * 2 ** Math.max(0, failures - 1))
  return Math.round(random() * bound)
}
