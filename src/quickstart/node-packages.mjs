import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { packagesMatch, pinnedVersion, rememberInstallation } from './lockfile.mjs'
import { findInPath, runQuietly, SetupError, say } from './run-command.mjs'

const majorMin = 24

/** Packages are there when `node_modules` agrees with the lockfile and a Node to run them starts. */
export async function ensureNodePackages(root) {
  const present = packagesMatch(root) && existsSync(pinnedNode(root))
  if (present && (await nodeForSecondStage(root)) !== undefined) return
  say('installing the node packages of package-lock.json (npm ci, about half a minute) …')
  const npm = findNpm(root)
  const borrowed = mkdtempSync(join(tmpdir(), 'catalogd-setup-'))
  try {
    // npm leaves out optional packages that do not fit the Node it runs on, native parts of the test runner among them.
    // So an old Node fetches the pinned one first and lets npm run on that.
    if ((await majorOf(npm.node)) < majorMin) {
      await runNpm(npm, borrowed, [
        'install',
        '--no-save',
        '--no-package-lock',
        `node@${pinnedVersion(root)}`,
      ])
      const bin = join(borrowed, 'node_modules', '.bin')
      npm.node = join(bin, 'node')
      npm.path = bin + delimiter + npm.path
    }
    await runNpm(npm, root, ['ci', '--include=dev'])
  } finally {
    rmSync(borrowed, { recursive: true, force: true })
  }
  rememberInstallation(root)
  if (!packagesMatch(root)) {
    throw new SetupError('npm ci ended well, but node_modules still differs from package-lock.json.')
  }
}

/**
 * The Node that runs TypeScript: the pinned one, or this very process when it is new enough (where the pinned binary
 * does not fit the system, as with musl). Undefined when neither does.
 */
export async function nodeForSecondStage(root) {
  if ((await majorOf(pinnedNode(root))) >= majorMin) return pinnedNode(root)
  return majorVersion(process.version) >= majorMin ? process.execPath : undefined
}

export function majorVersion(version) {
  return Number.parseInt(version.replace(/^v/, ''), 10)
}

function pinnedNode(root) {
  return join(root, 'node_modules', '.bin', 'node')
}

/** 0 when it does not start. */
async function majorOf(node) {
  const { code, output } = await runQuietly(node, ['--version'])
  return code === 0 ? majorVersion(output) : 0
}

/** npm, and a Node for it outside of `node_modules`, which it is about to replace. */
function findNpm(root) {
  const inside = join(root, 'node_modules')
  const folders = (process.env.PATH || '').split(delimiter).filter((folder) => !folder.startsWith(inside))
  const path = folders.join(delimiter)
  const own = process.execPath.startsWith(inside) ? undefined : process.execPath
  const node = findInPath(['node'], path) || own
  // The npm that runs this script, as JavaScript; else whatever is called npm.
  const caller = process.env.npm_execpath
  const script = caller && /^npm(-cli)?\.(c|m)?js$/.test(basename(caller)) ? caller : undefined
  const program = findInPath(['npm'], path)
  if (node === undefined || (script === undefined && program === undefined)) {
    throw new SetupError('npm is not in PATH; install it (Debian: apt-get install npm) and run this again.')
  }
  return { script, program, node, path }
}

/** The caller's npm settings must not decide: the install script of the pinned Node and its output are needed. */
async function runNpm({ script, program, node, path }, cwd, args) {
  const env = { ...process.env, PATH: path }
  const settings = ['--ignore-scripts=false', '--no-audit', '--no-fund', '--loglevel=error']
  const [command, ...first] = script === undefined ? [program] : [node, script]
  const { code, output } = await runQuietly(command, [...first, ...args, ...settings], { cwd, env })
  if (code !== 0) throw new SetupError(`${output}\nnpm ${args[0]} failed; its output is above.`)
}
