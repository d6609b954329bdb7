import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { CommandDefinition } from '../../src/cli/context.ts'
import { InterruptedError } from '../../src/cli/interrupts.ts'
import { wholeNumberOption } from '../../src/cli/option-values.ts'
import { ConfigError, EndpointError, ExitCode, StorageError } from '../../src/lib/errors.ts'
import { runCli } from './support.ts'

const secretUrl = 'redis://:pa55word@cache:6379'

const echo: CommandDefinition<{ count: number; loud?: boolean }> = {
  usage: 'echo <first> [rest...]',
  summary: 'say it again',
  examples: ['catalogd echo a b'],
  options: [
    {
      flags: '--count <number>',
      description: 'how often',
      default: 1,
      parse: wholeNumberOption({ min: 1, max: 3 }),
    },
    { flags: '--loud', description: 'shout' },
  ],
  async run(context, { args, options }) {
    context.note('thinking')
    context.print({ args, count: options.count, loud: options.loud ?? false }, () => args.join(' '))
    return args.includes('bad') ? ExitCode.data : ExitCode.done
  },
}

const failing = (usage: string, failure: () => unknown): CommandDefinition => ({
  usage,
  summary: 'fail',
  examples: [`catalogd ${usage}`],
  run: async () => {
    throw failure()
  },
})

const commands: CommandDefinition[] = [
  echo,
  { usage: 'group', summary: 'a group', examples: ['catalogd group echo x'], commands: [echo] },
  failing('usage', () => new ConfigError('x', 'wrong', { hint: 'Do this' })),
  failing('endpoint', () => new EndpointError('x', 'no answer')),
  failing('storage', () => new StorageError('x', `cannot reach ${secretUrl}`)),
  failing('bug', () => new TypeError('undefined is no function')),
  failing(
    'release',
    () =>
      new AggregateError(
        [new Error('releasing the cache failed', { cause: new Error(`no answer of ${secretUrl}`) })],
        'not everything could be released',
      ),
  ),
  {
    usage: 'wait',
    summary: 'wait',
    examples: ['catalogd wait'],
    async run(context) {
      await delay(600_000, undefined, { signal: context.signal })
      return ExitCode.done
    },
  },
]

const run = (...argv: string[]) => runCli(argv, { commands })

describe('runProgram', () => {
  it('gives arguments and options to the command', async () => {
    expect(await run('echo', 'a', 'b', 'c', '--count', '3')).toEqual({
      exitCode: 0,
      stdout: 'a b c\n',
      stderr: 'thinking\n',
    })
    const { stdout, stderr } = await run('group', 'echo', '--loud', 'a', '--json')
    expect(JSON.parse(stdout)).toEqual({ args: ['a'], count: 1, loud: true })
    expect(stderr).toBe('')
    expect((await run('--json', 'echo', 'a')).stdout).toContain('"args"')
  })

  it('ends with the code of the command, of its failure, or of a bug', async () => {
    expect((await run('echo', 'bad')).exitCode).toBe(1)
    expect(await run('usage')).toEqual({ exitCode: 2, stdout: '', stderr: 'wrong\nDo this\n' })
    expect(await run('endpoint')).toMatchObject({ exitCode: 3, stderr: 'no answer\n' })
    expect((await run('storage')).exitCode).toBe(4)
    const bug = await run('bug')
    expect(bug.exitCode).toBe(70)
    expect(bug.stderr).toContain('TypeError: undefined is no function')
    expect(bug.stderr).toContain('program.test.ts')
  })

  it('tells of a bug what caused it, and no secrets', async () => {
    const { stderr } = await run('release')
    expect(stderr).toMatch(/not everything could be released.*releasing the cache failed.*no answer of/s)
    expect(stderr).not.toContain('pa55word')
  })

  it('reports failures as JSON with --json, without secrets', async () => {
    expect(JSON.parse((await run('usage', '--json')).stderr)).toEqual({
      error: { code: 'x', message: 'wrong', hint: 'Do this' },
    })
    expect((await run('storage')).stderr).toBe('cannot reach redis://********@cache:6379\n')
    const unknown = await run('nothing', '--json')
    expect(unknown.exitCode).toBe(2)
    expect(JSON.parse(unknown.stderr)).toMatchObject({
      error: { code: 'usage', message: "unknown command 'nothing'" },
    })
  })

  it.each([
    [['echo'], "missing required argument 'first'"],
    [['echo', 'a', '--cuont', '2'], "unknown option '--cuont'\n(Did you mean --count?)"],
    [
      ['echo', 'a', '--count', '9'],
      "option '--count <number>' argument '9' is invalid. Expected a whole number from 1 to 3.",
    ],
    [['ehco'], "unknown command 'ehco'\n(Did you mean echo?)"],
    [['usage', 'extra'], 'too many arguments'],
  ])('%j is a usage error', async (argv, message) => {
    const { exitCode, stderr, stdout } = await run(...argv)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toContain('Add --help to see how it is used')
  })

  it('says how an id is given that begins as an option does', async () => {
    const refused = await run('echo', '-bcd')
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain("unknown option '-bcd'")
    expect(refused.stderr).toContain('Put -- before an id that begins with -')
    expect(await run('echo', '--', '-bcd')).toMatchObject({ exitCode: 0 })
  })

  it('ends every --help with an example, on standard output', async () => {
    for (const argv of [[], ['echo'], ['group'], ['group', 'echo'], ['bug']]) {
      const { exitCode, stdout, stderr } = await run(...argv, '--help')
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect(stdout).toMatch(/Examples?:\n( {2}\$ catalogd [^\n]+\n)+$/)
      expect(stdout).toContain('--config <file>')
    }
  })

  it('shows every real command under a heading that says what it is for', async () => {
    const { stdout } = await runCli(['--help'])
    const headings = [...stdout.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual([
      'Options',
      'Set-up',
      'The daemon',
      'Feeds and imports',
      'Delivery',
      'State',
      'Consents',
      'Shopper intent',
      'The Stack',
      'Other commands',
      'Examples',
    ])
    expect(stdout).toMatch(/^Other commands:\n {2}help \[command\].*\n\n/m)
  })

  it('ends the help of every real command with an example too', async () => {
    const real = [
      [],
      ['init'],
      ['config'],
      ['config', 'check'],
      ['config', 'print'],
      ['config', 'schema'],
      ['sandbox'],
    ]
    for (const argv of real) {
      expect((await runCli([...argv, '--help'])).stdout).toMatch(/Examples?:\n( {2}\$ catalogd [^\n]+\n)+$/)
    }
  })

  it('shows the help and fails when no command is given', async () => {
    expect(await run()).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining('Usage: catalogd'),
    })
    expect((await run('group')).exitCode).toBe(2)
  })

  it('says its version', async () => {
    const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect(await run('--version')).toEqual({ exitCode: 0, stdout: `${manifest.version}\n`, stderr: '' })
  })

  it('ends as shells expect when it is interrupted', async () => {
    const interrupt = new AbortController()
    const running = runCli(['wait'], { commands, signal: interrupt.signal })
    interrupt.abort(new InterruptedError('SIGTERM'))
    expect(await running).toEqual({ exitCode: 143, stdout: '', stderr: '' })
  })
})
