import { runCli } from '../cli/support.ts'

export interface Listed {
  usage: string
  options: string[]
}

const common = ['--version', '--config', '--catalog', '--json', '--help']

/** All commands that do something, as `--help` shows them. */
export async function listCommands(parents: readonly string[]): Promise<Listed[]> {
  const { stdout } = await runCli([...parents, '--help'])
  const sections = [...stdout.matchAll(/^([A-Z].*):\n((?: {2}.*\n)+)/gm)]
  const lists = sections.filter(([, heading = '']) => !/^(Global o|O)ptions$|^Examples?$/i.test(heading))
  if (lists.length === 0) return [describeCommand(stdout)]
  const names = lists
    .flatMap(([, , list = '']) => [...list.matchAll(/^ {2}(\w+)/gm)])
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help')
  return (await Promise.all(names.map((name) => listCommands([...parents, name])))).flat()
}

function describeCommand(help: string): Listed {
  const [, usage = ''] = /^Usage: catalogd (.+)$/m.exec(help) ?? []
  const options = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+(?: <[^>]+>)?)/gm)].map(
    ([, option = '']) => option,
  )
  return {
    usage: usage.replace(' [options]', ''),
    options: options.filter((option) => !common.includes(option.split(' ')[0] ?? '')),
  }
}
