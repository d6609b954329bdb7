import type { Finding, Module } from './module.ts'

interface TextBan {
  rule: string
  pattern: RegExp
  message: string
  within: (path: string) => boolean
}

const everywhere = () => true
const inSource = (path: string) => path.startsWith('src/')

/** Bans of words, wherever they stand in a file. */
const bans: readonly TextBan[] = [
  {
    rule: 'unfinished',
    pattern: /\b(TODO|FIXME|XXX|HACK)\b/,
    message: 'finish it now, or leave it out',
    within: everywhere,
  },
  {
    rule: 'compiler-silenced',
    pattern: /@ts-(ignore|nocheck|expect-error)/,
    message: 'repair the types instead of silencing the compiler',
    within: everywhere,
  },
  {
    rule: 'machine-path',
    pattern: /(?<![\w.])\/(work|home|Users|root)\/|[A-Z]:\\\\?Users\\/,
    message: 'this path exists on one machine only; derive it, or use os.tmpdir()',
    within: everywhere,
  },
  {
    rule: 'machine-path',
    pattern: /(?<![\w.])\/tmp\//,
    message: 'temporary files go to os.tmpdir()',
    within: inSource,
  },
  {
    rule: 'address',
    pattern:
      /[\w.+-]+@(?!(?:[\w-]+\.)*(?:example(?:\.(?:com|org|net))?|test|invalid)\b)[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b/i,
    message: 'an e-mail address of somebody; use one at example.com',
    within: inSource,
  },
  {
    rule: 'token',
    pattern: /\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{32,}\b/i,
    message: 'this looks like a secret or a key; read it from the configuration',
    within: inSource,
  },
]

export function checkTextBans(modules: readonly Module[]): Finding[] {
  return modules.flatMap(({ path, lines }) =>
    bans
      .filter(({ within }) => within(path))
      .flatMap(({ rule, pattern, message }) =>
        lines.flatMap((text, index) =>
          pattern.test(text) ? [{ file: path, line: index + 1, rule, message }] : [],
        ),
      ),
  )
}

const vagueFolders = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'shared', 'misc', 'types'])

export function checkFileNames(modules: readonly Module[]): Finding[] {
  return modules.flatMap(({ path }) => {
    const finding = (message: string) => [{ file: path, line: 1, rule: 'file-name', message }]
    const parts = path.split('/')
    const bad = parts.find((part) => !/^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*$/.test(part))
    if (bad !== undefined) return finding(`${bad} is not kebab-case; rename it after its main export`)
    const vague = parts.find((part) => vagueFolders.has(part.replace(/\..*$/, '')))
    return vague === undefined ? [] : finding(`${vague} says nothing; name the stage or the thing`)
  })
}
