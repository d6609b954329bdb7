import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

// Runs before any package is installed, on any Node from 18: plain JavaScript, nothing but the standard library.

/** The set-up cannot go on; the message is for the person at the terminal. */
export class SetupError extends Error {}

/** One line about what takes time. Standard error, so that the second stage's output stays clean. */
export function say(line) {
  process.stderr.write(`${line}\n`)
}

/**
 * Runs a command without input and keeps its output for the case that it fails.
 * Answers `{ code, output }`; `code` is undefined when it could not be started or was killed.
 */
export function runQuietly(command, args, { cwd, env } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: env || process.env, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks = []
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    child.stderr.on('data', (chunk) => chunks.push(chunk))
    const end = (code, note) =>
      resolve({
        code: code === null ? undefined : code,
        output: (Buffer.concat(chunks).toString('utf8') + note).trim(),
      })
    child.on('error', (error) => end(null, error.message))
    child.on('close', (code, signal) => end(code, signal ? `\nended by ${signal}` : ''))
  })
}

/** The first executable file of one of these names in PATH. */
export function findInPath(names, path = process.env.PATH || '') {
  for (const name of names) {
    for (const folder of path.split(delimiter)) {
      if (folder !== '' && isExecutable(join(folder, name))) return join(folder, name)
    }
  }
  return undefined
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
