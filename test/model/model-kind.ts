import fc from 'fast-check'
import type { Kind } from '../fuzz/kind.ts'
import type { Command } from './commands.ts'
import { allRules } from './rules.ts'
import { anySchedule, play } from './schedule.ts'

/** Random schedules for `npm run fuzz -- model`; each part is one command. */
export const modelKind: Kind<undefined> = {
  name: 'model',
  weight: 1,
  generate: (random) => {
    const [commands = []] = fc.sample(anySchedule, { seed: random.below(2 ** 31), numRuns: 1 })
    return { parts: commands.map((command) => `${JSON.stringify(command)}\n`), settings: undefined }
  },
  run: ({ parts }) => {
    const [difference] = play(
      parts.map((part) => JSON.parse(part) as Command),
      allRules,
    )
    return difference === undefined ? 'read' : { difference }
  },
}
