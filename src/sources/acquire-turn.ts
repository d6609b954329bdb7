import { createHash } from 'node:crypto'
import { createServer } from 'node:net'
import { systemErrorCode } from '../lib/errors.ts'

/**
 * One process of this host at a time looks at a lock and takes it, so that two that find a dead holder cannot remove
 * each other's new lock. The turn is an abstract socket of Linux: the kernel ends it with its process, kill -9
 * included. Undefined: another process has the turn.
 */
export async function takeTurn(file: string): Promise<AsyncDisposable | undefined> {
  const name = `\0catalogd-lock-${createHash('sha256').update(file).digest('hex').slice(0, 32)}`
  const server = createServer((socket) => socket.destroy())
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ path: name }, resolve)
    })
  } catch (error) {
    if (systemErrorCode(error) === 'EADDRINUSE') return undefined
    throw error
  }
  server.unref()
  return {
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
