import { benchBeside } from './beside.ts'
import { benchBig } from './big.ts'
import { benchConsents } from './consents.ts'
import { benchDrain } from './drain.ts'
import { benchIntent } from './intent.ts'
import { benchLatency } from './latency.ts'
import { benchLoad } from './load.ts'
import { benchMirror } from './mirror.ts'

const benches: Record<string, (args: readonly string[]) => Promise<void>> = {
  load: benchLoad,
  latency: benchLatency,
  big: benchBig,
  intent: benchIntent,
  consents: benchConsents,
  mirror: benchMirror,
  drain: benchDrain,
  beside: benchBeside,
}

const [name = '', ...args] = process.argv.slice(2)
const bench = benches[name]
if (bench) await bench(args)
else {
  console.error(`usage: npm run bench -- ${Object.keys(benches).join('|')} [size]`)
  process.exitCode = 2
}
