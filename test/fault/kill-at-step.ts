import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

// Loaded before a command: kills the process, without a chance to do anything, right before the n-th change of a file
// whose path contains KILL_PATH.

const { KILL_AT = '', KILL_PATH = '' } = process.env
const names = [
  'mkdir',
  'rename',
  'rm',
  'unlink',
  'copyFile',
  'truncate',
  'writeFile',
  'open',
  'chmod',
] as const
let step = 0

const promises = fs.promises as unknown as Record<string, (...args: unknown[]) => unknown>
for (const name of names) {
  const original = promises[name]
  promises[name] = (...args) => {
    if (args.slice(0, 2).some((path) => typeof path === 'string' && path.includes(KILL_PATH))) {
      step += 1
      if (step === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL')
    }
    return original?.apply(fs.promises, args)
  }
}
syncBuiltinESMExports()
