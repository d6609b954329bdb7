import { constants, copyFile, mkdir, open, rename, writeFile } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { sampleFields } from '../../../src/quickstart/sample-feed.ts'
import { startRedis } from '../../support/redis-server.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { openEndpoint } from './endpoint.ts'
import { cpuOfTree } from './process-tree.ts'

export interface StageOptions {
  latencyMs?: number
  /** Further keys of `delivery`. */
  delivery?: string
  /** YAML of the feeds in place of that of the sample products; indented by six. */
  feeds?: string
  pendingBytes?: string
  /** Further lines at the top of the configuration. */
  top?: string
}

/** YAML of a feed with the columns of the sample. */
export function sampleFeed(extension = 'csv', format = '{ type: csv }'): string {
  return `      products:
        drop: ./drop
        files: { full: "*.${extension}", delta: "*.delta" }
        settle: 0s
        format: ${format}
        fields:
${sampleFields.map((line) => `          ${line}`).join('\n')}
`
}

/** A counting endpoint, a redis-server with AOF everysec and a configured catalogd, each a process of its own. */
export async function openStage({
  latencyMs = 0,
  delivery = '',
  feeds = sampleFeed(),
  pendingBytes = '256MB',
  top = '',
}: StageOptions = {}) {
  const stack = new AsyncDisposableStack()
  const dir = stack.use(await tempDir('bench'))
  const endpoint = stack.use(await openEndpoint({ latencyMs }))
  const redis = stack.use(await startRedis({ aof: true }))
  const connection = new Redis(redis.url)
  stack.defer(() => connection.disconnect())
  await mkdir(dir.join('drop'))
  const config = dir.join('catalogd.yaml')
  await writeFile(
    config,
    `state: ./state
redis: { url: "${redis.url}", pendingBytes: ${pendingBytes} }
${top}
catalogs:
  main:
    api: { url: "${endpoint.url}", productsToken: bench-token }
    delivery: { callsPerSecond: 200${delivery === '' ? '' : `, ${delivery}`} }
    feeds:
${feeds}`,
  )
  const usedMemory = async (name = 'used_memory') =>
    Number(new RegExp(`${name}:(\\d+)`).exec(await connection.info('memory'))?.[1]) / 1e6
  return {
    ...{ dir, endpoint, redis, config, connection, usedMemory },
    state: dir.join('state', 'main'),
    redisCpu: () => cpuOfTree(redis.pid),
    /** Ends with the stage at the latest. */
    async start(...args: readonly string[]): Promise<Daemon> {
      return stack.use(await startDaemon({ config, args }))
    },
    /** A durable copy beside the drop folder: renaming it into there is all that is left to do. */
    async prepare(file: string, name: string, folder = 'drop'): Promise<() => Promise<number>> {
      const ready = dir.join(`.ready-${name}`)
      await copyFile(file, ready, constants.COPYFILE_FICLONE)
      const handle = await open(ready, 'r+')
      await handle.sync()
      await handle.close()
      return async () => {
        const nowMs = Date.now()
        await rename(ready, dir.join(folder, name))
        return nowMs
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

export type Stage = Awaited<ReturnType<typeof openStage>>
