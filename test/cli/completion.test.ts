import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest'
import { waitFor } from '../support/events.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { runCli } from './support.ts'

let dir: TempDir

beforeAll(async () => {
  dir = await tempDir('completion')
  // Names are there whatever else is wrong, but for one that would run something.
  await writeFile(
    dir.join('catalogd.yaml'),
    `catalogs:
  main: { apii: \${NOT_SET}, feeds: { products: { drop: ./a }, prices: {}, "$(touch x)": {} } }
  outlet:
    feeds:
      outlet-stock: { drop: ./b }
`,
  )
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  await writeFile(dir.join('catalogd'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  await chmod(dir.join('catalogd'), 0o755)
})
afterAll(() => dir[Symbol.asyncDispose]())

async function found(shell: string, ...words: string[]): Promise<string[]> {
  const env = { CATALOGD_CONFIG: dir.join('catalogd.yaml') }
  const { exitCode, stdout } = await runCli(['completion', shell, '--', ...words], { env })
  expect(exitCode).toBe(0)
  return stdout.split('\n').filter((line) => line !== '')
}

describe('what the last word may become', () => {
  it.each<[words: string[], expected: string[]]>([
    [['st'], ['start', 'status', 'stack']],
    [['dead', 're'], ['retry']],
    [
      ['help', 're'],
      ['reload', 'resume', 'resync', 'restore'],
    ],
    [
      ['load', 'p'],
      ['products', 'prices'],
    ],
    [['--catalog', 'outlet', 'load', ''], ['outlet-stock']],
    [['load', '--catalog=outlet', ''], ['outlet-stock']],
    [['load', 'products', ''], [':files']],
    [['load', 'products', 'a.csv', 'b'], [':files']],
    [['--config', ''], [':files']],
    [
      ['--catalog', ''],
      ['main', 'outlet'],
    ],
    [['--config', '/none', 'load', ''], []],
    [['tail', '--lane', 'u'], ['urgent']],
    [
      ['tail', '--l'],
      ['--lane', '--last'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['start', '--roles', 'w'], ['watch']],
    [['why', ''], []],
    [['status', '--w'], ['--watch']],
  ])('%j', async (words, expected) => {
    expect(await found('bash', ...words)).toEqual(expected)
  })

  it('fits the shell', async () => {
    expect(await found('zsh', 'tail', '--lane=u')).toEqual(['--lane=urgent'])
    expect(await found('bash', 'tail', '--lane', '=', 'u')).toEqual(['urgent'])
    expect(await found('bash', 'tail', '--lane', '=')).toEqual(['urgent', 'new', 'deferred'])
    expect(await found('zsh', 'dead', 'ret')).toEqual(['retry:send them again'])
    expect(await found('fish', 'dead', 'ret')).toEqual(['retry\tsend them again'])
  })
})

const isThere = (program: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(`${folder}/${program}`))
const environment = () => ({
  ...process.env,
  PATH: `${dir.path}${delimiter}${process.env.PATH}`,
  HOME: dir.path,
  TERM: 'dumb',
})
const completed = [
  ['relo', 'reload'],
  ['check pro', 'check products'],
  ['tail --lane=ur', 'tail --lane=urgent'],
  ['check products exp', 'check products export.csv'],
] as const

describe('TAB completes commands, feeds, values and files', () => {
  beforeAll(() => writeFile(dir.join('export.csv'), ''))

  const shells = [
    ['bash', 'bash --norc --noprofile -i'],
    ['zsh', 'zsh -f -i'],
  ].filter(([shell = '']) => isThere('script') && isThere(shell))

  it.each(shells)('in %s', async (shell = '', command = '') => {
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: dir.path,
      env: environment(),
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let shown = ''
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
    })
    const closed = once(terminal, 'close')
    const shows = (text: string) =>
      waitFor(() => shown.includes(text), { withinMs: 120_000, what: () => shown })
    onTestFailed(() => void terminal.kill())
    terminal.stdin.write(`source <(catalogd completion ${shell}); echo re""ady\n`)
    await shows('ready')
    for (const [typed, became] of completed) {
      terminal.stdin.write(`catalogd ${typed}\t`)
      await shows(`catalogd ${became}`)
      // Away with the line.
      terminal.stdin.write('\x15')
    }
    terminal.stdin.write('exit\n')
    await closed
  })

  it.skipIf(!isThere('fish'))('in fish', () => {
    const asked = completed.map(([typed]) => `complete -C'catalogd ${typed}'`)
    const script = ['catalogd completion fish | source', ...asked].join('; ')
    const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { cwd: dir.path, env: environment() })
    expect(String(stdout).trim().split('\n')).toEqual([
      'reload\tThe daemon',
      'products\tfeed',
      '--lane=urgent',
      'export.csv',
    ])
  })
})
