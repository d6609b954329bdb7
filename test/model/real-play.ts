import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { CatalogName } from '../../src/lib/brand.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import { OutboxScripts } from '../../src/outbox/scripts/scripts.ts'
import { collectLog } from '../support/log-lines.ts'
import { startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import type { Command } from './commands.ts'
import { RealSystem } from './real-system.ts'
import { type ModelSystem, type Observed, openModel } from './system.ts'

/** In memory where the system has that: what a power cut leaves is not the question here. */
const memoryFolder = '/dev/shm'

/** One Redis and one folder for many schedules. */
export async function openRealBox() {
  const stack = new AsyncDisposableStack()
  const server = stack.use(await startRedis())
  const dir = stack.use(await tempDir('model', existsSync(memoryFolder) ? memoryFolder : undefined))
  const keys = catalogKeys('main' as CatalogName)
  const { log } = collectLog()
  const box = { url: server.url, keys, scripts: await OutboxScripts.read(keys), log }
  let played = 0
  return {
    /** Where the real thing and the model differ first; undefined: nowhere. */
    play: (schedule: readonly (readonly Command[])[]) => play(schedule, box, dir.join(`${++played}.db`)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

export interface Difference {
  /** After which step. */
  after: number
  real: unknown
  model: unknown
}

async function play(
  schedule: readonly (readonly Command[])[],
  box: Parameters<typeof RealSystem.open>[0],
  file: string,
): Promise<Difference | undefined> {
  const fallsBack = schedule.flat().some(({ kind }) => goesBack.has(kind))
  await using real = await RealSystem.open(box, { file, keepsCopies: fallsBack })
  const model = openModel()
  for (const [after, commands] of schedule.entries()) {
    for (const command of commands) {
      if (!(await isComparable(command, { model, real }))) continue
      await model.run(command)
      await real.run(command)
    }
    const [seen, expected] = [comparable(await real.observe()), comparable(await model.observe())]
    if (!isDeepStrictEqual(seen, expected)) return { after, real: seen, model: expected }
  }
  return undefined
}

/** What the model has in smaller steps cannot be compared in their midst. */
async function isComparable(
  command: Command,
  { model, real }: { model: ModelSystem; real: RealSystem },
): Promise<boolean> {
  // A copy that is refused is not open.
  if ('at' in command && needsMirror.has(command.kind) && real.isCopy(command.at)) return false
  if (command.kind === 'put-back' && command.how === 'in place') {
    // Neither promises to notice less than two beats; the real loop may need more turns, which are more beats.
    return (
      (await model.wouldNotice(command.which, command.at)) &&
      (await real.wouldNotice(command.which, command.at))
    )
  }
  if (command.kind === 'turn-with-edit') return model.isRunning(command.at)
  return !('by' in command && goesBack.has(command.kind) && model.isMidway(command.by))
}

const needsMirror = new Set<Command['kind']>(['import', 'turn-with-edit', 'pause', 'resync', 'backup'])
const goesBack = new Set<Command['kind']>(['roll-back', 'power-cut', 'close-cleanly'])

/** What both show in the same words. */
function comparable({ redis, installations }: Observed): unknown {
  const { acknowledged, ...rest } = redis
  const plain = Object.entries(acknowledged as Record<string, string>).map(([product, value]) => {
    return [product, value.startsWith('=') ? '=' : value]
  })
  return {
    redis: { ...rest, acknowledged: Object.fromEntries(plain) },
    installations: installations.map(({ mirror: { beatAhead: _, ...mirror }, ...others }) => {
      return { mirror, ...others }
    }),
  }
}
