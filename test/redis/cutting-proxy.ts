import { once } from 'node:events'
import net from 'node:net'

/** Stands between a client and a redis-server, and breaks connections as a server does that dies at that moment. */
export interface CuttingProxy extends AsyncDisposable {
  readonly url: string
  /** How many of the cuts that were asked for are left. */
  readonly cutsLeft: number
  /** The next so many times a connection that was told the INFO already asks for it again, it is broken instead. */
  cutInfo(times: number): void
}

export async function startCuttingProxy(serverPort: number): Promise<CuttingProxy> {
  let cutsLeft = 0
  const sockets = new Set<net.Socket>()
  const server = net.createServer((client) => {
    const upstream = net.connect(serverPort, '127.0.0.1')
    let told = false
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on('data', (bytes) => {
      if (cutsLeft > 0 && told && /\binfo\b/i.test(bytes.toString('latin1'))) {
        cutsLeft -= 1
        end()
      } else {
        upstream.write(bytes)
      }
    })
    upstream.on('data', (bytes) => {
      told ||= bytes.includes('redis_version:')
      client.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  return {
    url: `redis://127.0.0.1:${port}`,
    get cutsLeft() {
      return cutsLeft
    },
    cutInfo: (times) => {
      cutsLeft = times
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
