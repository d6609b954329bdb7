import type { Argument, Command, Option } from 'commander'

export interface Candidate {
  value: string
  description?: string
}

interface CompleteOptions {
  /** Of the command line, without the executable; the last is being typed. */
  words: readonly string[]
  /** With the command that the words name. */
  program: Command
  /** By catalog, of the configuration that `--config` names. */
  readFeeds: (config: string | undefined) => Promise<ReadonlyMap<string, readonly string[]>>
}

/** What the last word may become; `files`: the name of a file, of which the shell knows more. */
export async function complete(options: CompleteOptions): Promise<readonly Candidate[] | 'files'> {
  const { words, program } = options
  const word = words.at(-1) ?? ''
  const given = new Map<string, string>()
  let command = program
  let argumentCount = 0
  let awaiting: Option | undefined
  for (const typed of words.slice(0, -1)) {
    const { flag, value } = partsOf(typed)
    const option = findOption(command, flag)
    const child = command.commands.find((one) => one.name() === typed)
    if (awaiting) {
      given.set(awaiting.name(), typed)
      awaiting = undefined
    } else if (option && value !== undefined) given.set(option.name(), value)
    else if (option?.required) awaiting = option
    else if (child) command = child
    else if (!typed.startsWith('-')) argumentCount += 1
  }
  const { flag, value } = partsOf(word)
  const option = awaiting ?? (value === undefined ? undefined : findOption(command, flag))
  const { registeredArguments: places, commands } = command
  const place = places[argumentCount] ?? places.findLast(({ variadic }) => variadic)
  if (option) {
    const values = await valuesOf(option, given, options)
    // The shell would look for a file whose name begins with the flag.
    if (awaiting || values === 'files') return awaiting ? startingWith(values, word) : []
    return startingWith(
      values.map((one) => ({ ...one, value: `${flag}=${one.value}` })),
      word,
    )
  }
  if (word.startsWith('-')) return startingWith(flagsOf(command), word)
  if (commands.length > 0) {
    const all = command.createHelp().visibleCommands(command)
    return startingWith(
      all.map((one) => ({ value: one.name(), description: one.summary() })),
      word,
    )
  }
  // A command that takes no further word has options.
  return startingWith(place ? await valuesOf(place, given, options) : flagsOf(command), word)
}

async function valuesOf(
  place: Argument | Option,
  given: ReadonlyMap<string, string>,
  { readFeeds }: CompleteOptions,
): Promise<readonly Candidate[] | 'files'> {
  if (place.argChoices) return place.argChoices.map((value) => ({ value }))
  const placeholder = 'flags' in place ? /<([\w-]+)/.exec(place.flags)?.[1] : place.name()
  if (placeholder === 'file' || placeholder === 'files' || placeholder === 'folder') return 'files'
  if (placeholder !== 'feed' && placeholder !== 'catalog') return []
  const feeds = await readFeeds(given.get('config'))
  if (placeholder === 'catalog') return [...feeds.keys()].map((value) => ({ value }))
  const chosen = [...feeds].filter(([catalog]) => catalog === (given.get('catalog') ?? catalog))
  const names = new Set(chosen.flatMap(([, ofCatalog]) => ofCatalog))
  return [...names].map((value) => ({ value, description: 'feed' }))
}

function flagsOf(command: Command): Candidate[] {
  const help = command.createHelp()
  help.showGlobalOptions = true
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
  return options.map(({ long, flags, description }) => ({ value: long ?? flags, description }))
}

function findOption(command: Command | null, flag: string): Option | undefined {
  if (!command || !flag.startsWith('-')) return undefined
  return (
    command.options.find((option) => option.long === flag || option.short === flag) ??
    findOption(command.parent, flag)
  )
}

/** `--lane=urgent` in one word. */
function partsOf(word: string): { flag: string; value: string | undefined } {
  const [, flag = word, value] = /^(--[\w-]+)=(.*)$/.exec(word) ?? []
  return { flag, value }
}

function startingWith<Found extends readonly Candidate[] | 'files'>(found: Found, word: string) {
  if (found === 'files') return found
  return (found as readonly Candidate[]).filter(({ value }) => value.startsWith(word))
}
