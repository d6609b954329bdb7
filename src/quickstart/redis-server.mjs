import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { findInPath, runQuietly, SetupError, say } from './run-command.mjs'

const servers = ['redis-server', 'valkey-server']
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
const policyFile = '/usr/sbin/policy-rc.d'

/** catalogd runs a redis-server of its own, so the program must be there; no service is wanted. */
export async function ensureRedisServer() {
  if (findInPath(servers) !== undefined) return
  const apt = findInPath(['apt-get'])
  if (apt === undefined || !process.getuid || process.getuid() !== 0) throw new SetupError(installHint())
  await installWithApt(apt)
  if (findInPath(servers) === undefined) throw new SetupError(`apt-get ended well. ${installHint()}`)
}

function installHint() {
  return (
    'catalogd needs redis-server (or valkey-server) in PATH; install it and run this again: ' +
    'Debian/Ubuntu: sudo apt-get install redis-server | Alpine: apk add redis | macOS: brew install redis'
  )
}

async function installWithApt(apt) {
  // The package's scripts need programs that the PATH of a plain `su` leaves out.
  const path = `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin`
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', PATH: path }
  // Another apt may be at work, for example the unattended upgrades after booting.
  const patience = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3']
  say('installing redis-server: apt-get update …')
  const update = await runQuietly(apt, [...patience, 'update'], { env })
  const name = (await isKnown('redis-server', env)) ? 'redis-server' : 'valkey-server'
  say(`installing redis-server: apt-get install ${name} …`)
  const allowServiceStart = forbidServiceStart()
  const args = [...patience, 'install', '-y', '--no-install-recommends', name]
  const install = await runQuietly(apt, args, { env })
  const stopped = allowServiceStart()
  if (install.code !== 0) {
    throw new SetupError(
      `${update.output}\n${install.output}\napt-get failed; its output is above. ${installHint()}`,
    )
  }
  if (stopped) throw new SetupError('stopped by a signal; redis-server is installed.')
  await forgetService(name, env)
}

async function isKnown(name, env) {
  const cache = findInPath(['apt-cache'])
  if (cache === undefined) return true
  return (await runQuietly(cache, ['show', '--no-all-versions', name], { env })).code === 0
}

/**
 * The package would start a server on port 6379; Debian's policy file is the documented way to say no. Signals wait
 * until the file is gone again. The answer undoes all that and says whether a signal came.
 */
function forbidServiceStart() {
  const written = !existsSync(policyFile)
  let stopped = false
  const stop = () => {
    stopped = true
  }
  for (const signal of signals) process.on(signal, stop)
  if (written) writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' })
  return () => {
    if (written) rmSync(policyFile, { force: true })
    for (const signal of signals) process.removeListener(signal, stop)
    return stopped
  }
}

/** Nor shall it start with the next boot. Nothing depends on it: without systemd there is no such unit. */
async function forgetService(name, env) {
  const systemctl = findInPath(['systemctl'])
  if (systemctl === undefined || !existsSync('/run/systemd/system')) return
  await runQuietly(systemctl, ['disable', '--quiet', name], { env })
}
