import { benchLatency } from './latency.ts'
import { benchLoad } from './load.ts'

const benches: Record<string, (args: readonly string[]) => Promise<void>> = {
  load: benchLoad,
  latency: benchLatency,
}

const [name = '', ...args] = process.argv.slice(2)
const bench = benches[name]
if (bench) await bench(args)
else {
  console.error(`usage: npm run bench -- ${Object.keys(benches).join('|')} [products]`)
  process.exitCode = 2
}
