import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError } from './run-command.mjs'

/**
 * Whether what npm wrote down when it installed equals the lockfile. Optional packages may be absent where they belong
 * to another platform, and, after an installation by this set-up, where npm could not install them.
 */
export function packagesMatch(root) {
  const wanted = readLock(root).packages
  const installed = parseFile(join(root, 'node_modules', '.package-lock.json'))
  if (installed === undefined) return false
  const isOurs = readText(stampFile(root)) === lockDigest(root)
  return Object.keys(wanted).every((path) => {
    if (path === '') return true
    const want = wanted[path]
    const have = installed.packages[path]
    if (have === undefined) return want.optional === true && (isOurs || !isForThisPlatform(want))
    return have.version === want.version && have.integrity === want.integrity
  })
}

/** Written after an installation, into the folder that the next one deletes. */
export function rememberInstallation(root) {
  writeFileSync(stampFile(root), lockDigest(root))
}

/** Version of the Node that the project is pinned to. */
export function pinnedVersion(root) {
  return readLock(root).packages['node_modules/node'].version
}

function stampFile(root) {
  return join(root, 'node_modules', '.catalogd-setup')
}

function lockDigest(root) {
  return createHash('sha256')
    .update(readText(lockFile(root)) || '')
    .digest('hex')
}

function lockFile(root) {
  return join(root, 'package-lock.json')
}

function readLock(root) {
  const lock = parseFile(lockFile(root))
  if (lock !== undefined) return lock
  throw new SetupError('package-lock.json is missing or cannot be read; take it from git again.')
}

/** Only packages with native parts name a platform. */
function isForThisPlatform({ os, cpu, libc }) {
  if (os === undefined || !os.includes(process.platform)) return false
  if (cpu !== undefined && !cpu.includes(process.arch)) return false
  return libc === undefined || process.platform !== 'linux' || libc.includes(libcOfThisNode())
}

function libcOfThisNode() {
  return process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc'
}

function parseFile(file) {
  try {
    return JSON.parse(readText(file))
  } catch {
    return undefined
  }
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
