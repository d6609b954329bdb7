import { expect, test } from 'vitest'
import { readCommands } from '../../src/cli/commands.ts'
import type { CommandDefinition } from '../../src/cli/context.ts'

const namesFor = async (line: string) =>
  (await readCommands(line.split(' '))).map(({ usage }) => usage.split(' ')[0])

test.each([
  'status',
  '--json status',
  '--config load status --all',
  '--config=load.yaml status load',
  '--catalog load --json status',
])('only the named command is read: %s', async (line) => {
  expect(await namesFor(line)).toEqual(['status'])
})

test.each(['--help', 'help status', 'stauts', '--json', '--config status'])(
  'all commands are read for what lists or compares them: %s',
  async (line) => {
    expect(await namesFor(line)).toHaveLength(28)
  },
)

test.each(['--version', '-V'])('no command is read for %s', async (line) => {
  expect(await namesFor(line)).toEqual([])
})

test('each command is found by the name that it has', async () => {
  const all = await namesFor('--help')
  expect(await Promise.all(all.map((name = '') => namesFor(name)))).toEqual(all.map((name) => [name]))
})

test('only what is about the configuration file, or what no daemon has, is refused while the file has a mistake', async () => {
  const needing = (definitions: readonly CommandDefinition[], above = ''): string[] =>
    definitions.flatMap(({ usage, commands = [], needsConfigFile }) => {
      const name = `${above} ${usage.split(' ')[0]}`.trim()
      return needsConfigFile ? [name] : needing(commands, name)
    })
  expect(needing(await readCommands(['--help'])).sort()).toEqual([
    ...['adopt', 'alert', 'check', 'config check', 'intent', 'reload', 'restore', 'stack', 'start', 'verify'],
  ])
})
