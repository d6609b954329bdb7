import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { cpuOfTree } from './process-tree.ts'

const program = fileURLToPath(new URL('./endpoint-process.ts', import.meta.url))

export interface EndpointStats {
  bytes: number
  /** Bytes of each call. */
  sizes: number[]
  /** When the first and the last call was answered, ms since the epoch. */
  firstMs: number
  lastMs: number
}

export interface Endpoint extends AsyncDisposable {
  readonly url: string
  stats(): Promise<EndpointStats>
  reset(): Promise<void>
  /** From now on it notes when the prices of the latency bench come. */
  watch(): Promise<void>
  /** When that price came for the first time since it is asked for, ms since the epoch. */
  receiptOf(price: string): Promise<number>
  cpu(): number
}

/** An endpoint that only counts bytes, as a process of its own. */
export async function openEndpoint({ latencyMs = 0 } = {}): Promise<Endpoint> {
  const child = fork(program, [String(latencyMs)])
  const [{ port }] = await once(child, 'message')
  const waiting = new Map<string, (atMs: number) => void>()
  child.on('message', ({ price, atMs }: { price: string; atMs: number }) => waiting.get(price)?.(atMs))
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    stats: async () => (await fetch(`${url}/stats`)).json() as Promise<EndpointStats>,
    reset: async () => void (await (await fetch(`${url}/reset`)).text()),
    watch: async () => void (await (await fetch(`${url}/watch`)).text()),
    receiptOf: async (price) => {
      const { promise, resolve } = Promise.withResolvers<number>()
      waiting.set(price, resolve)
      return promise.finally(() => waiting.delete(price))
    },
    cpu: () => cpuOfTree(child.pid as number),
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}
