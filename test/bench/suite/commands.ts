import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { main } from './daemon.ts'
import { type Figure, medianOf } from './figure.ts'
import { cpuOfExitedChildren } from './process-tree.ts'
import { openStage } from './stage.ts'

const times = 5
const isBuilt = main.endsWith('.js')
const place = isBuilt ? 'the package' : 'a checkout'

/** CPU of short commands, with code that was compiled before, and of `start` until it is ready. */
export async function measureCommands(): Promise<Figure[]> {
  await using stage = await openStage()
  const starts: number[] = []
  for (let time = 0; time < times; time += 1) {
    const daemon = await stage.start()
    starts.push(daemon.startCpuSeconds)
    if (time < times - 1) await daemon.stop()
  }
  const cpuOf = async (...args: string[]) => {
    const spent: number[] = []
    for (let time = 0; time < times; time += 1) {
      const before = cpuOfExitedChildren()
      await once(spawn(process.execPath, [main, ...args], { stdio: 'ignore' }), 'exit')
      spent.push(cpuOfExitedChildren() - before)
    }
    return medianOf(spent)
  }
  const figure = (name: string, value: number, goal: number): Figure => ({
    ...{ id: `cpu-${name}`, name: `catalogd ${name}: CPU, from ${place}`, unit: 's', better: 'less' },
    ...{ value, goal: isBuilt ? goal : 2 * goal },
    note: isBuilt ? '' : `from the installed package the goal is ${goal} s`,
  })
  return [
    figure('--version', await cpuOf('--version'), 0.12),
    figure('status', await cpuOf('status', '--config', stage.config), 0.35),
    figure('start', medianOf(starts), 1.5),
  ]
}
