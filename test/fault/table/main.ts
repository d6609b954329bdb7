import { parseArgs } from 'node:util'
import { formatResult, isFailed, runTable } from './run-table.ts'

export const faultsUsage = `  faults            the fault table with real processes: Redis rolled back and wiped, daemons killed, power cut
                    [rows…] [--times <number>] [--share] [--workers <rows at one time>], FAULT_SEED=<number>`

/** `npm run fuzz -- faults`. Returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      times: { type: 'string' },
      share: { type: 'boolean', default: false },
      workers: { type: 'string', default: '4' },
    },
  })
  const results = await runTable({
    ...(positionals.length > 0 && { names: positionals }),
    ...(values.times !== undefined && { times: Number(values.times) }),
    isShare: values.share,
    sideBySide: Number(values.workers),
  })
  console.log(`\n${results.map(formatResult).join('\n')}`)
  return results.length > 0 && !results.some(isFailed) ? 0 : 1
}
