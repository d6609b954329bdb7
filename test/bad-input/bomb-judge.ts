import { stat } from 'node:fs/promises'
import { judgeFile } from '../../src/records/judge.ts'
import { readRecords } from '../../src/records/read-records.ts'

// Judges and reads the files named on the command line as a feed does, in a process of its own: what that takes of the
// memory is seen from its own account. Prints a line of JSON for each; memory is the most so far.

async function run(path: string): Promise<Record<string, unknown>> {
  const { size } = await stat(path)
  const source = { path, bytes: size, name: 'bomb' }
  try {
    const judgement = await judgeFile({
      ...source,
      format: {
        type: undefined,
        delimiter: undefined,
        quote: undefined,
        encoding: undefined,
        recordBytes: 16_000_000,
      },
      neededColumns: ['id'],
      openIdReader: (found: readonly string[]) => {
        const index = found.indexOf('id')
        return index < 0
          ? undefined
          : { indices: [index], read: ([cell]: readonly unknown[]) => String(cell) }
      },
    })
    let records = 0
    let rejected = 0
    const options = {
      ...source,
      dialect: judgement.dialect,
      columns: judgement.columns,
      recordBytes: 16_000_000,
    }
    for await (const batch of readRecords(options)) {
      records += batch.records.length
      rejected += batch.rejected.length
    }
    return { records, rejected, columns: judgement.columns.slice(0, 10) }
  } catch (error) {
    const { code, message, hint } = error as { code?: string; message?: string; hint?: string }
    return { code, message, hint }
  }
}

for (const path of process.argv.slice(2)) {
  const began = process.hrtime.bigint()
  const usedBefore = process.cpuUsage()
  const result = await run(path)
  const milliseconds = Number((process.hrtime.bigint() - began) / 1_000_000n)
  const used = process.cpuUsage(usedBefore)
  const cpuMilliseconds = Math.round((used.user + used.system) / 1000)
  // maxRSS counts kilobytes.
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1024)
  process.stdout.write(`${JSON.stringify({ path, ...result, megabytes, milliseconds, cpuMilliseconds })}\n`)
}
