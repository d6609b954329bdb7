import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { Database } from '../../src/lib/database.ts'
import { tempDir } from '../support/temp-dir.ts'
import { machine, openStage } from './stage.ts'

const runs = 3

/**
 * Consents, one a call, from the file to the sandbox, each acknowledgement durable; each run begins with nothing known.
 * `npm run bench -- consents [count] [concurrency]`
 */
export async function benchConsents([size = '100000', slots = '4']: readonly string[]): Promise<void> {
  const count = Number(size)
  console.log(`${count} consents at callsPerSecond 10000, concurrency ${slots}; ${machine()}`)
  console.log(`one small durable commit: ${await durableCommitMs()} ms`)
  const rates: number[] = []
  const peaks: number[] = []
  for (let run = 1; run <= runs; run += 1) {
    const { rate, peakMegabytes } = await measure(run, count, slots)
    rates.push(rate)
    peaks.push(peakMegabytes)
  }
  console.log(`median of ${runs}: ${median(rates)} consents a second, peak RSS ${median(peaks)} MB`)
}

async function measure(run: number, count: number, slots: string) {
  await using stage = await openStage({ catalog: (url) => catalog(url, slots) })
  const file = stage.dir.join('newsletter.csv')
  await writeConsents(file, count)
  const measured = await stage.command(['load', 'newsletter', file])
  const { output, seconds, peakMegabytes, cpuSeconds, code } = measured
  const { calls } = JSON.parse(output) as { calls: number }
  const { consents } = (await stage.summary()) as unknown as { consents: { timesTaken: number } }
  const rate = Math.round(consents.timesTaken / seconds)
  console.log(
    `run ${run}  exit ${code}  ${seconds.toFixed(1)} s  CPU ${cpuSeconds.toFixed(1)} s  calls ${calls}  the sandbox took ${consents.timesTaken}, ${rate} a second  peak RSS ${peakMegabytes} MB`,
  )
  return { rate, peakMegabytes }
}

function catalog(url: string, slots: string): string {
  return `    api: { url: "${url}", emailToken: sandbox-email-token }
    consents: { callsPerSecond: 10000, concurrency: ${slots} }
    feeds:
      newsletter: { kind: consents, drop: ./drop, files: "*.csv", settle: 0s }
`
}

async function writeConsents(file: string, count: number): Promise<void> {
  const stream = createWriteStream(file)
  stream.write('email,consent\n')
  for (let person = 0; person < count; person += 1) {
    const line = `person.${person}@customers.example,${person % 3 !== 0}\n`
    if (!stream.write(line)) await once(stream, 'drain')
  }
  stream.end()
  await once(stream, 'finish')
}

/** Median of one row a transaction, as a consent alone would be written. */
async function durableCommitMs(): Promise<string> {
  await using dir = await tempDir('commit')
  using database = Database.open({ file: dir.join('commit.db'), access: 'write' })
  database.exec('CREATE TABLE numbers (number INTEGER)')
  const times = Array.from({ length: 300 }, (_, number) => {
    const began = performance.now()
    database.transaction(() => database.run('INSERT INTO numbers VALUES (?)', number))
    return performance.now() - began
  })
  return median(times).toFixed(2)
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
