// Run by the guard of a process that was killed: node end-unused.ts <folder of the embedded server>
import { systemClock } from '../lib/clock.ts'
import { openLog } from '../lib/log.ts'
import { endProcess, findEmbeddedFolder, serversWithoutFolder } from './embedded-folder.ts'
import { EmbeddedRedis } from './embedded-redis.ts'

const [dir = ''] = process.argv.slice(2)
const options = { dir, clock: systemClock, log: openLog({ level: 'silent' }) }
const folder = await findEmbeddedFolder(dir, options.log)
if (folder) await new EmbeddedRedis(folder, options).endUnused()
else for (const pid of await serversWithoutFolder(dir)) endProcess(pid)
