import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureChromium } from './chromium.mjs'
import { ensureNodePackages, majorVersion, nodeForSecondStage } from './node-packages.mjs'
import { ensureRedisServer } from './redis-server.mjs'
import { SetupError, say } from './run-command.mjs'
import { ensureSftpServer } from './sftp-server.mjs'

// First stage of `npm run quickstart` and `npm test`: installs what is missing, then hands over to the pinned Node.
//   setup.mjs [quickstart [file]|test [arguments …]]      without a word: the set-up alone

const root = fileURLToPath(new URL('../..', import.meta.url))

const stages = {
  quickstart: [join(root, 'src', 'quickstart', 'quickstart.ts')],
  test: [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--config',
    join(root, 'test', 'vitest.config.ts'),
  ],
}

async function main([name, ...args]) {
  if (majorVersion(process.version) < 18) {
    throw new SetupError(
      `This is Node ${process.version}; install Node 18 or later (24 for production) and run this again.`,
    )
  }
  if (name !== undefined && !Object.hasOwn(stages, name)) {
    throw new SetupError(`Unknown stage ${name}; known are ${Object.keys(stages).join(' and ')}.`)
  }
  // First what may have to be refused at once, then what takes long.
  await ensureRedisServer()
  if (name === 'test') {
    await ensureChromium()
    await ensureSftpServer()
  }
  await ensureNodePackages(root)
  const node = await nodeForSecondStage(root)
  if (node === undefined) {
    throw new SetupError(
      'The pinned Node 24 does not run on this system (musl?); install Node 24 or later and run this again.',
    )
  }
  return name === undefined
    ? 0
    : handOver(node, [...stages[name], ...(name === 'quickstart' ? args.map(fromCaller) : args)])
}

/** Names of files are relative to where the command was typed, which npm remembers. */
function fromCaller(arg) {
  return arg.startsWith('-') ? arg : resolve(process.env.INIT_CWD || '', arg)
}

/** Runs the second stage on this terminal and answers its exit code. */
function handOver(command, args) {
  const path = [join(root, 'node_modules', '.bin'), process.env.PATH || ''].join(delimiter)
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, PATH: path } })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) {
    process.on(signal, () => {
      // Ctrl-C on a terminal reaches the child by itself; twice would mean "at once".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve(code === null ? 128 + constants.signals[signal] : code))
  })
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  say(error instanceof SetupError ? error.message : String(error.stack))
  process.exitCode = 1
}
