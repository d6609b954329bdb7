import { type Figure, medianRun } from './figure.ts'
import { type PeerRun, runPeer } from './peer.ts'
import type { Files } from './reimports.ts'

const parsers = [
  { id: 'csv-parse', name: 'csv-parse, objects', args: ['csv-parse', 'objects'] },
  { id: 'csv-parse-arrays', name: 'csv-parse, arrays', args: ['csv-parse', 'arrays'] },
  { id: 'papaparse', name: 'papaparse, arrays', args: ['papaparse'] },
  { id: 'udsv', name: 'udsv, arrays', args: ['udsv'] },
] as const

/** What merely parsing the file costs elsewhere: the measure of everything else. */
export async function measureParsing({ rows, base }: Files, rounds: number): Promise<Figure[]> {
  const runs = new Map<string, PeerRun<number>[]>(parsers.map(({ id }) => [id, []]))
  for (let round = 0; round < rounds; round += 1) {
    const inTurn = round % 2 === 0 ? parsers : parsers.toReversed()
    for (const { id, args } of inTurn) {
      const [name, ...form] = args
      const run = await runPeer<number>(name, base, ...form)
      if (run.answer !== rows) throw new Error(`${id} found ${run.answer} rows of ${rows}`)
      runs.get(id)?.push(run)
    }
  }
  return parsers.map(({ id, name }) => {
    const { seconds, cpuSeconds, peakMegabytes } = medianRun(runs.get(id) ?? [])
    return {
      ...{ id: `parse-${id}`, name: `parsing alone: ${name}`, unit: 'µs/row', better: 'less' },
      value: (cpuSeconds * 1e6) / rows,
      note: `${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of CPU, ${peakMegabytes.toFixed(0)} MB`,
    }
  })
}
