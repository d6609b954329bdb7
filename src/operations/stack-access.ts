import type { StackWait } from '../api/stack-calls.ts'
import { StackClient } from '../api/stack-client.ts'
import type { Config } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'

export interface StackAccess {
  config: Config
  clock: Clock
  onWait: (wait: StackWait) => void
}

/** Throws a ConfigError that names the variable and its place when the address, the token or the name is not set. */
export function openStack({ config, clock, onWait }: StackAccess): StackClient {
  const { url, network, accessToken, name } = config.stack
  const address = url.value()
  // Asked for now, so that what is missing is said before anything else happens.
  accessToken.value()
  return new StackClient({
    url: address,
    network,
    accessToken: () => accessToken.value(),
    stack: name.value(),
    clock,
    onWait,
    // A file may name fields that the service has beyond the contract; all others were refused before.
    unknownFields: 'tolerate',
  })
}
