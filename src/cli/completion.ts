import type { Candidate } from './complete.ts'
import type { CommandContext, CommandDefinition } from './context.ts'

/** In place of candidates: what is typed names a file. */
const files = ':files'

/**
 * What each shell is told. At each TAB it asks the executable that stands on the command line, with what stands before
 * the cursor; bash makes words of their own of `=`.
 */
const scripts = {
  bash: `_catalogd() {
  local IFS=$'\\n'
  COMPREPLY=($("$1" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [ "\${COMPREPLY[0]}" = ${files} ]; then COMPREPLY=(); compopt -o default; fi
}
complete -F _catalogd catalogd`,
  zsh: `#compdef catalogd
_catalogd() {
  local -a found
  found=(\${(f)"$("\${words[1]}" completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if [[ \${found[1]} == ${files} ]]; then _files; else _describe catalogd found; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _catalogd catalogd`,
  fish: `function __catalogd_complete
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -l found ($words[1] completion fish -- $words[2..-1] "$typed" 2>/dev/null)
  if test "$found[1]" = ${files}
    __fish_complete_path "$typed"
  else
    printf '%s\\n' $found
  end
end
complete -c catalogd -f -a '(__catalogd_complete)'`,
}

type Shell = keyof typeof scripts
const shells = Object.keys(scripts) as Shell[]

export const completionCommand: CommandDefinition = {
  usage: 'completion <shell> [words...]',
  summary: 'print what makes TAB complete commands, options, and names of feeds and catalogs',
  details:
    'For bash and zsh a line of ~/.bashrc or ~/.zshrc, for fish one of ~/.config/fish/config.fish, as below. The shell gives the words that stand before the cursor.',
  examples: [
    'source <(catalogd completion bash)',
    'source <(catalogd completion zsh)',
    'catalogd completion fish | source',
  ],
  choices: { shell: shells },
  async run(context, { args: [name, ...words], readProgram }) {
    const shell = name as Shell
    if (words.length === 0) {
      context.printWhole({ shell, script: scripts[shell] }, () => scripts[shell])
      return
    }
    const { complete } = await import('./complete.ts')
    const typed = shell === 'bash' ? withoutEquals(words) : words
    const program = await readProgram(typed)
    const found = await complete({ words: typed, program, readFeeds: (file) => readFeeds(context, file) })
    context.printWhole(found, (shown) => (shown === 'files' ? files : shown.map(lineFor(shell)).join('\n')))
  },
}

/** `--lane`, `=`, `urgent`, of which the last may not be begun. */
function withoutEquals(words: readonly string[]): string[] {
  const typed = words.filter((word) => word !== '=')
  return words.at(-1) === '=' ? [...typed, ''] : typed
}

async function readFeeds(context: CommandContext, file: string | undefined) {
  const { readNames } = await import('../config/read-names.ts')
  try {
    return await readNames(file ?? context.configFile)
  } catch {
    // Without a configuration there are no names; TAB is no place to say so.
    return new Map<string, string[]>()
  }
}

function lineFor(shell: Shell): (candidate: Candidate) => string {
  return ({ value, description = '' }) => {
    if (shell === 'bash' || description === '') return value
    return shell === 'zsh' ? `${value.replaceAll(':', '\\:')}:${description}` : `${value}\t${description}`
  }
}
