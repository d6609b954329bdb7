import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

// The set-up runs in a small checkout of its own, with a PATH that holds only what the test puts there.

const source = fileURLToPath(new URL('../../src/quickstart/', import.meta.url))
const lock = {
  packages: {
    '': {},
    'node_modules/a': { version: '1.0.0', integrity: 'x' },
    'node_modules/b': { version: '1', optional: true },
    'node_modules/c': { version: '1', optional: true, os: ['another'] },
    'node_modules/native': { version: '1', optional: true, os: [process.platform], cpu: [process.arch] },
    'node_modules/node': { version: '24.0.1' },
  },
}
const withoutNative = {
  'node_modules/a': { version: '1.0.0', integrity: 'x' },
  'node_modules/node': { version: '24.0.1' },
}
const installedLock = { packages: { ...withoutNative, 'node_modules/native': { version: '1' } } }

// Where no policy file forbids services to start, the set-up would write one into the system.
const mayUseApt = process.getuid?.() === 0 && existsSync('/usr/sbin/policy-rc.d')

let root: string
let bin: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'catalogd-setup-'))
  bin = join(root, 'path')
  for (const name of [
    'setup',
    'node-packages',
    'lockfile',
    'redis-server',
    'chromium',
    'sftp-server',
    'apt-install',
    'run-command',
  ]) {
    cpSync(join(source, `${name}.mjs`), join(root, 'src', 'quickstart', `${name}.mjs`))
  }
  write('package-lock.json', JSON.stringify(lock))
  write('package.json', '{ "type": "module" }')
  mkdirSync(bin)
  symlinkSync(process.execPath, join(bin, 'node'))
  writeProgram('path/redis-server', '#!/bin/sh\n')
  writeProgram('path/sshd', '#!/bin/sh\n')
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('the second stage', () => {
  beforeEach(() => installPackages())

  it('gets the arguments and gives the exit code, without a word of the set-up', async () => {
    write(
      'src/quickstart/quickstart.ts',
      'const n: number = 7\nconsole.log(process.argv.slice(2))\nprocess.exit(n)',
    )
    expect(await runSetup('quickstart', '--a', '/b c')).toEqual({
      code: 7,
      stdout: "[ '--a', '/b c' ]\n",
      stderr: '',
    })
  })

  it('runs the tests through vitest with the settings of the project', async () => {
    write('node_modules/vitest/vitest.mjs', 'console.log(process.argv.slice(2).join(" "))')
    const { stdout } = await runSetup('test', 'test/records')
    expect(stdout).toBe(`run --config ${join(root, 'test', 'vitest.config.ts')} test/records\n`)
  })

  it('gets the signal that ends the set-up', async () => {
    write(
      'src/quickstart/quickstart.ts',
      "process.on('SIGTERM', () => process.exit(9))\nsetInterval(() => {}, 1000)\nconsole.log('ready')",
    )
    const child = startSetup('quickstart')
    const result = resultOf(child)
    child.stdout?.once('data', () => child.kill('SIGTERM'))
    expect(await result).toMatchObject({ code: 9 })
  })

  it('is not needed: the set-up alone ends well', async () => {
    expect(await runSetup()).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await runSetup('unknown')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Unknown stage unknown'),
    })
  })
})

describe('node packages', () => {
  beforeEach(() => write('src/quickstart/quickstart.ts', "console.log('second stage')"))

  const installing = `
    import { cpSync, rmSync, writeFileSync } from 'node:fs'
    rmSync(process.env.ROOT + '/node_modules', { recursive: true, force: true })
    writeFileSync(process.env.ROOT + '/npm-was-called', process.argv.slice(2).join(' '))
    cpSync(process.env.ROOT + '/prepared', process.env.ROOT + '/node_modules', { recursive: true, verbatimSymlinks: true })`

  it.each([
    ['are missing', () => {}],
    [
      'differ from the lockfile',
      () => {
        const packages = { ...installedLock.packages, 'node_modules/a': { version: '0.9.0', integrity: 'y' } }
        installPackages('node_modules', { packages })
      },
    ],
    ['lack all', () => installPackages('node_modules', { packages: {} })],
    [
      'lack a native part for this system',
      () => installPackages('node_modules', { packages: withoutNative }),
    ],
    ['lack the pinned Node', () => write('node_modules/.package-lock.json', JSON.stringify(installedLock))],
  ])('are installed by npm ci when they %s, and not again', async (_, prepare) => {
    prepare()
    installPackages('prepared')
    write('npm/npm-cli.js', installing)
    const first = await runSetup('quickstart')
    expect(first).toMatchObject({ code: 0, stdout: 'second stage\n' })
    expect(first.stderr.trim().split('\n')).toHaveLength(1)
    expect(readFileSync(join(root, 'npm-was-called'), 'utf8')).toMatch(/^ci --include=dev /)
    rmSync(join(root, 'npm-was-called'))
    expect(await runSetup('quickstart')).toEqual({ code: 0, stdout: 'second stage\n', stderr: '' })
    expect(existsSync(join(root, 'npm-was-called'))).toBe(false)
  })

  it('are not installed again for a native part that npm could not install', async () => {
    installPackages('prepared', { packages: withoutNative })
    write('npm/npm-cli.js', installing)
    expect(await runSetup('quickstart')).toMatchObject({ code: 0 })
    rmSync(join(root, 'npm-was-called'))
    expect(await runSetup('quickstart')).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(join(root, 'npm-was-called'))).toBe(false)
  })

  it('are installed by an npm on the pinned Node when the present one is older', async () => {
    rmSync(join(bin, 'node'))
    const real = process.execPath
    writeProgram('path/node', `#!/bin/sh\ncase $1 in --version) echo v18.0.0;; *) exec ${real} "$@";; esac\n`)
    installPackages('prepared')
    installPackages('borrowed')
    // Asked for the pinned Node it puts one into the folder it runs in, and notes which Node comes first.
    write(
      'npm/npm-cli.js',
      `import { appendFileSync, cpSync } from 'node:fs'
      const { ROOT, PATH } = process.env
      const words = process.argv.slice(2, 6)
      appendFileSync(ROOT + '/npm-was-called', words.join(' ') + '|' + PATH.split(':')[0] + '\\n')
      const from = words[0] === 'install' ? '/borrowed' : '/prepared'
      cpSync(ROOT + from, process.cwd() + '/node_modules', { recursive: true, verbatimSymlinks: true })`,
    )
    expect(await runSetup('quickstart')).toMatchObject({ code: 0, stdout: 'second stage\n' })
    const [first, second = ''] = readFileSync(join(root, 'npm-was-called'), 'utf8').trim().split('\n')
    expect(first).toBe(`install --no-save --no-package-lock node@24.0.1|${bin}`)
    expect(second).toMatch(/^ci --include=dev .*\/catalogd-setup-\w+\/node_modules\/\.bin$/)
    expect(existsSync(second.split('|')[1] ?? root)).toBe(false)
  })

  it("show npm's output when it fails", async () => {
    write('npm/npm-cli.js', "console.error('registry is out of reach')\nprocess.exit(1)")
    const { code, stdout, stderr } = await runSetup('quickstart')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('registry is out of reach\nnpm ci failed')
  })
})

describe('redis-server', () => {
  beforeEach(() => {
    installPackages()
    rmSync(join(bin, 'redis-server'))
  })

  it('may be valkey-server', async () => {
    writeProgram('path/valkey-server', '#!/bin/sh\n')
    expect(await runSetup()).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it('is asked for in one line where it cannot be installed', async () => {
    const { code, stderr } = await runSetup('quickstart')
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^[^\n]*apt-get install redis-server[^\n]*apk add redis[^\n]*brew install redis[^\n]*\n$/,
    )
  })

  it.skipIf(!mayUseApt)('is installed by apt-get for root', async () => {
    writeProgram(
      'path/apt-get',
      `#!/bin/sh\necho "$DEBIAN_FRONTEND $*" >> ${root}/apt-calls\ncase "$*" in *install*) /bin/ln -s ${process.execPath} ${bin}/redis-server; esac\n`,
    )
    expect(await runSetup()).toMatchObject({ code: 0, stdout: '' })
    const calls = readFileSync(join(root, 'apt-calls'), 'utf8').trim().split('\n')
    expect(calls).toEqual([
      expect.stringMatching(/^noninteractive .* update$/),
      expect.stringMatching(/^noninteractive .* install -y --no-install-recommends redis-server$/),
    ])
  })

  it.skipIf(!mayUseApt)('shows what apt-get said when it fails', async () => {
    writeProgram('path/apt-get', '#!/bin/sh\necho "no space left for $*"\nexit 100\n')
    const { code, stderr } = await runSetup()
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /no space left for .* update[\s\S]*no space left for .* install [\s\S]*apt-get failed/,
    )
  })
})

describe('chromium', () => {
  beforeEach(() => {
    installPackages()
    write('node_modules/vitest/vitest.mjs', 'console.log("the tests")')
    write('src/quickstart/quickstart.ts', 'console.log("the quickstart")')
  })

  it('is asked for in one line where it cannot be installed, and the tests run all the same', async () => {
    const { code, stdout, stderr } = await runSetup('test')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'the tests\n' })
    expect(stderr).toMatch(/^[^\n]*apt-get install chromium[^\n]*\n$/)
  })

  it('is wanted for the tests only', async () => {
    writeProgram('path/apt-get', `#!/bin/sh\necho "$*" >> ${root}/apt-calls\n`)
    expect(await runSetup('quickstart')).toEqual({ code: 0, stdout: 'the quickstart\n', stderr: '' })
    expect(await runSetup()).toEqual({ code: 0, stdout: '', stderr: '' })
    writeProgram('path/chromium', '#!/bin/sh\n')
    expect(await runSetup('test')).toEqual({ code: 0, stdout: 'the tests\n', stderr: '' })
    expect(existsSync(join(root, 'apt-calls'))).toBe(false)
  })

  it.skipIf(!mayUseApt)('is installed by apt-get for root', async () => {
    writeProgram(
      'path/apt-get',
      `#!/bin/sh\necho "$DEBIAN_FRONTEND $*" >> ${root}/apt-calls\ncase "$*" in *install*) /bin/ln -s ${process.execPath} ${bin}/chromium; esac\n`,
    )
    expect(await runSetup('test')).toMatchObject({ code: 0, stdout: 'the tests\n' })
    const calls = readFileSync(join(root, 'apt-calls'), 'utf8').trim().split('\n')
    expect(calls).toEqual([
      expect.stringMatching(/^noninteractive .* update$/),
      expect.stringMatching(/^noninteractive .* install -y --no-install-recommends chromium$/),
    ])
  })

  it.skipIf(!mayUseApt)('that apt-get cannot install keeps no other test from running', async () => {
    writeProgram('path/apt-get', '#!/bin/sh\necho "no space left for $*"\nexit 100\n')
    const { code, stdout, stderr } = await runSetup('test')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'the tests\n' })
    expect(stderr).toMatch(/no space left for .* install [\s\S]*page tests need chromium/)
  })
})

it('refuses a Node that is too old in one line', async () => {
  const main = readFileSync(join(source, 'setup.mjs'), 'utf8').replaceAll('process.version)', "'v16.20.2')")
  write('src/quickstart/setup.mjs', main)
  expect(await runSetup('test')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^[^\n]*Node 18[^\n]*\n$/),
  })
})

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function writeProgram(path: string, text: string): void {
  write(path, text)
  chmodSync(join(root, path), 0o755)
}

/** What `npm ci` leaves behind. */
function installPackages(folder = 'node_modules', hidden: object = installedLock): void {
  write(`${folder}/.package-lock.json`, JSON.stringify(hidden))
  mkdirSync(join(root, folder, '.bin'))
  symlinkSync(process.execPath, join(root, folder, '.bin', 'node'))
}

interface Result {
  code: number | null
  stdout: string
  stderr: string
}

function runSetup(...args: string[]): Promise<Result> {
  return resultOf(startSetup(...args))
}

function startSetup(...args: string[]): ChildProcess {
  return spawn(join(bin, 'node'), [join(root, 'src', 'quickstart', 'setup.mjs'), ...args], {
    env: { PATH: bin, ROOT: root, npm_execpath: join(root, 'npm', 'npm-cli.js') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function resultOf(child: ChildProcess): Promise<Result> {
  const result: Result = { code: null, stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk) => {
    result.stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    result.stderr += chunk
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ ...result, code })))
}
