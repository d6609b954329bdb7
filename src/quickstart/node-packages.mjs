import { existsSync, readFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { findInPath, runQuietly, SetupError, say } from './run-command.mjs'

/** Packages are installed when npm's own record of `node_modules` equals the lockfile and a Node to run them is there. */
export async function ensureNodePackages(root) {
  const present = packagesMatch(root) && existsSync(pinnedNode(root))
  if (present && (await nodeForSecondStage(root)) !== undefined) return
  say('installing the node packages of package-lock.json (npm ci, about half a minute) …')
  const npm = npmCommand(root)
  // An installation must not depend on the caller's npm settings: the development packages and the install script of
  // the pinned Node are needed.
  const args = [
    'ci',
    '--include=dev',
    '--ignore-scripts=false',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  const { code, output } = await runQuietly(npm.command, [...npm.args, ...args, '--prefix', root], npm.env)
  if (code !== 0) throw new SetupError(`${output}\nnpm ci failed; its output is above.`)
  if (!packagesMatch(root))
    throw new SetupError('npm ci ended well, but node_modules still differs from package-lock.json.')
}

/**
 * The Node that runs TypeScript: the pinned one, or this very process when it is new enough (where the pinned binary
 * does not fit the system, as with musl). Undefined when neither does.
 */
export async function nodeForSecondStage(root) {
  const pinned = pinnedNode(root)
  const { code, output } = await runQuietly(pinned, ['--version'], process.env)
  if (code === 0 && majorVersion(output) >= 24) return pinned
  return majorVersion(process.version) >= 24 && process.execPath !== pinned ? process.execPath : undefined
}

function pinnedNode(root) {
  return join(root, 'node_modules', '.bin', 'node')
}

export function majorVersion(version) {
  return Number.parseInt(version.replace(/^v/, ''), 10)
}

/** Compares every locked package with what npm wrote down when it installed. Packages for other platforms may be absent. */
function packagesMatch(root) {
  const wanted = readPackages(join(root, 'package-lock.json'))
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'))
  if (wanted === undefined)
    throw new SetupError('package-lock.json is missing or cannot be read; take it from git again.')
  if (installed === undefined) return false
  return Object.keys(wanted).every((path) => {
    if (path === '') return true
    const want = wanted[path]
    const have = installed[path]
    if (have === undefined) return want.optional === true
    return have.version === want.version && have.integrity === want.integrity
  })
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

/** npm, and an environment in which it does not run on the Node that it is about to replace. */
function npmCommand(root) {
  const inside = join(root, 'node_modules')
  const path = (process.env.PATH || '').split(delimiter).filter((folder) => !folder.startsWith(inside))
  const env = { ...process.env, PATH: path.join(delimiter) }
  const script = process.env.npm_execpath
  const node =
    findInPath(['node'], env.PATH) || (process.execPath.startsWith(inside) ? undefined : process.execPath)
  if (script && node && /^npm(-cli)?\.(c|m)?js$/.test(basename(script)))
    return { command: node, args: [script], env }
  const npm = findInPath(['npm'], env.PATH)
  if (npm === undefined) {
    throw new SetupError('npm is not in PATH; install it (Debian: apt-get install npm) and run this again.')
  }
  return { command: npm, args: [], env }
}
