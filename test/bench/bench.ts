import { benchBeside } from './beside.ts'
import { benchBig } from './big.ts'
import { benchChart } from './chart.ts'
import { benchCluster } from './cluster.ts'
import { benchConsents } from './consents.ts'
import { benchConsole } from './console.ts'
import { benchDeliverers } from './deliverers.ts'
import { benchDrain } from './drain.ts'
import { benchIntent } from './intent.ts'
import { benchLatency } from './latency.ts'
import { benchLinear } from './linear.ts'
import { benchLoad } from './load.ts'
import { benchMirror } from './mirror.ts'
import { benchRecord } from './record.ts'
import { benchScale } from './scale.ts'
import { benchSkip } from './skip.ts'
import { runSuite } from './suite/run-suite.ts'

/** Each measures one thing, with arguments of its own. */
const benches: Record<string, (args: readonly string[]) => Promise<void>> = {
  load: benchLoad,
  latency: benchLatency,
  big: benchBig,
  intent: benchIntent,
  consents: benchConsents,
  console: benchConsole,
  mirror: benchMirror,
  record: benchRecord,
  drain: benchDrain,
  beside: benchBeside,
  chart: benchChart,
  cluster: benchCluster,
  deliverers: benchDeliverers,
  linear: benchLinear,
  scale: benchScale,
  skip: benchSkip,
}

const [name = '--quick', ...args] = process.argv.slice(2)
const bench = benches[name]
if (bench) await bench(args)
else if (name.startsWith('--')) await runSuite([name, ...args])
else {
  const names = Object.keys(benches).join('|')
  console.error(
    `usage: npm run bench -- [--quick|--full|--scale] [--json file]\n       npm run bench -- ${names} [size]`,
  )
  process.exitCode = 2
}
