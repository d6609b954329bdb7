import fc from 'fast-check'
import type { Kind } from '../fuzz/kind.ts'
import type { Command } from './commands.ts'
import { type Difference, openRealBox } from './real-play.ts'
import { realSchedule } from './real-schedule.ts'
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

/** The same of the real mirror and scripts; each part is what happens between two comparisons. */
export function realKind(): Kind<undefined> {
  let box: ReturnType<typeof openRealBox> | undefined
  return {
    name: 'real',
    weight: 1,
    generate: (random) => {
      const [schedule = []] = fc.sample(realSchedule, { seed: random.below(2 ** 31), numRuns: 1 })
      return { parts: schedule.map((step) => `${JSON.stringify(step)}\n`), settings: undefined }
    },
    run: async ({ parts }) => {
      box ??= openRealBox()
      const { play: playReal } = await box
      const difference = await playReal(parts.map((part) => JSON.parse(part) as Command[]))
      return difference === undefined ? 'read' : { difference: describe(difference) }
    },
  }
}

function describe({ after, real, model }: Difference): string {
  const [ours, theirs] = [leavesOf(real), leavesOf(model)]
  const paths = [...new Set([...ours.keys(), ...theirs.keys()])]
  const differing = paths.filter((path) => ours.get(path) !== theirs.get(path))
  const lines = differing.map((path) => `${path}: really ${ours.get(path)}, in the model ${theirs.get(path)}`)
  return `after step ${after}: ${lines.join('; ')}`
}

/** What stands at which path. */
function leavesOf(state: unknown, path = ''): Map<string, unknown> {
  if (typeof state !== 'object' || state === null) return new Map([[path, state]])
  return new Map(Object.entries(state).flatMap(([name, value]) => [...leavesOf(value, `${path}.${name}`)]))
}
