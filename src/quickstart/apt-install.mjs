import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { findInPath, runQuietly, SetupError, say } from './run-command.mjs'

/** The person at the terminal does not want the rest any more. */
export class StoppedError extends SetupError {}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
const policyFile = '/usr/sbin/policy-rc.d'

/** Where packages can be installed without asking anybody: apt-get, run by root. Undefined elsewhere. */
export function findApt() {
  return process.getuid && process.getuid() === 0 ? findInPath(['apt-get']) : undefined
}

/**
 * Installs the first of these packages that is known, without starting its service. `hint` ends what is said when it
 * fails; `units` are those of the service, where they are not called as the package.
 */
export async function installWithApt(apt, names, hint, units = undefined) {
  // The package's scripts need programs that the PATH of a plain `su` leaves out.
  const path = `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin`
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', PATH: path }
  // Another apt may be at work, for example the unattended upgrades after booting.
  const patience = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3']
  say(`installing ${names[0]}: apt-get update …`)
  const update = await runQuietly(apt, [...patience, 'update'], { env })
  const name = await firstKnown(names, env)
  say(`installing ${names[0]}: apt-get install ${name} …`)
  const allowServiceStart = forbidServiceStart()
  const args = [...patience, 'install', '-y', '--no-install-recommends', name]
  const install = await runQuietly(apt, args, { env })
  const stopped = allowServiceStart()
  if (install.code !== 0) {
    throw new SetupError(`${update.output}\n${install.output}\napt-get failed; its output is above. ${hint}`)
  }
  if (stopped) throw new StoppedError(`stopped by a signal; ${name} is installed.`)
  await forgetService(units || [name], env)
}

/** The last one if none is: apt-get then says why. */
async function firstKnown(names, env) {
  for (const name of names.slice(0, -1)) if (await isKnown(name, env)) return name
  return names[names.length - 1]
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
async function forgetService(units, env) {
  const systemctl = findInPath(['systemctl'])
  if (systemctl === undefined || !existsSync('/run/systemd/system')) return
  await runQuietly(systemctl, ['disable', '--quiet', ...units], { env })
}
