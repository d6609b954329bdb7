import { findApt, installWithApt } from './apt-install.mjs'
import { findInPath, SetupError } from './run-command.mjs'

const servers = ['redis-server', 'valkey-server']

/** catalogd runs a redis-server of its own, so the program must be there; no service is wanted. */
export async function ensureRedisServer() {
  if (findInPath(servers) !== undefined) return
  const apt = findApt()
  if (apt === undefined) throw new SetupError(installHint())
  await installWithApt(apt, servers, installHint())
  if (findInPath(servers) === undefined) throw new SetupError(`apt-get ended well. ${installHint()}`)
}

function installHint() {
  return (
    'catalogd needs redis-server (or valkey-server) in PATH; install it and run this again: ' +
    'Debian/Ubuntu: sudo apt-get install redis-server | Alpine: apk add redis | macOS: brew install redis'
  )
}
