import { resolve } from 'node:path'
import { writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import { tempDir } from '../support/temp-dir.ts'
import { machine, openStage } from './stage.ts'

interface Round {
  checkout: string
  first: Figures
  again: Figures
}

interface Figures {
  seconds: number
  cpuSeconds: number
}

/**
 * A first load and the same file again, by this checkout and by another one in turns: medians, and how many documents the
 * same file makes it read from Redis (counted in a round of its own, since watching Redis costs time).
 * `npm run bench -- beside <other checkout> [products] [rounds]`
 */
export async function benchBeside([other, size = '200000', count = '3']: readonly string[]): Promise<void> {
  if (other === undefined) throw new Error('name the other checkout')
  await using dir = await tempDir('beside')
  const file = dir.join('feed.csv')
  await writeSampleFeed(file, { products: Number(size) })
  console.log(`first load of ${size} products, then the same file; ${machine()}`)
  const checkouts = [resolve('.'), resolve(other)]
  const rounds: Round[] = []
  for (let round = 0; round < Number(count); round += 1) {
    const inTurn = round % 2 === 0 ? checkouts : checkouts.toReversed()
    for (const checkout of inTurn) rounds.push(await runRound(checkout, file))
  }
  for (const checkout of checkouts) {
    const own = rounds.filter((round) => round.checkout === checkout)
    const documents = await countDocumentsRead(checkout, file)
    for (const step of ['first', 'again'] as const) {
      const median = (figure: keyof Figures) => medianOf(own.map((round) => round[step][figure])).toFixed(1)
      const read = step === 'again' ? `  documents read from Redis ${documents}` : ''
      console.log(
        `${checkout}, ${step}: median of ${own.length}: ${median('seconds')} s, CPU ${median('cpuSeconds')} s${read}`,
      )
    }
  }
}

async function runRound(checkout: string, file: string): Promise<Round> {
  await using stage = await openStage({ program: resolve(checkout, 'src/main.ts') })
  const load = async () => {
    const { seconds, cpuSeconds, code } = await stage.command(['load', 'products', file])
    if (code !== 0) throw new Error(`${checkout}: load ended with ${code}`)
    return { seconds, cpuSeconds }
  }
  const round = { checkout, first: await load(), again: await load() }
  const text = ({ seconds, cpuSeconds }: Figures) => `${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s`
  console.log(`  ${checkout}: first ${text(round.first)}; again ${text(round.again)}`)
  return round
}

async function countDocumentsRead(checkout: string, file: string): Promise<number> {
  await using stage = await openStage({ program: resolve(checkout, 'src/main.ts') })
  await stage.command(['load', 'products', file])
  const watcher = await stage.connection.monitor()
  let documents = 0
  watcher.on('monitor', (_time: string, [command = '', key = '', ...fields]: string[]) => {
    if (/^hm?get$/i.test(command) && key.endsWith(':documents')) documents += fields.length
  })
  await stage.command(['load', 'products', file])
  watcher.disconnect()
  return documents
}

function medianOf(values: number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN
}
