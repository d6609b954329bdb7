// Upgrades the catalog `main`, and is killed at its n-th step: node upgrade-once.ts <folder> <redis url> <n>
import type { CatalogName } from '../../src/lib/brand.ts'
import { systemClock as clock } from '../../src/lib/clock.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { openManifest } from '../../src/sources/manifest.ts'
import { upgradeCatalog } from '../../src/upgrade/upgrade.ts'
import { collectLog } from '../support/log-lines.ts'

const [dir = '', url = '', killAt = '0'] = process.argv.slice(2)
const { log } = collectLog()
await using connections = await openRedis({ address: { kind: 'url', url }, clock, log })
await using manifest = await openManifest({ dir, clock })
let step = 0
const advance = () => {
  step += 1
  if (step === Number(killAt)) process.kill(process.pid, 'SIGKILL')
}
const work = { advance, wait: () => ({ [Symbol.dispose]: () => undefined }) }
const catalog = 'main' as CatalogName
await upgradeCatalog({ catalog, file: `${dir}/catalog.db`, manifest, connections, clock, log, work })
