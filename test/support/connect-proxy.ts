import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

export interface ConnectProxy extends AsyncDisposable {
  /** With the credentials that it wants. */
  url: string
  port: number
  /** What it was asked to connect to, in order; a refused one begins with its status. */
  asked: string[]
  /** Where it really connects to, in place of the host that it is asked for. */
  portOf: Map<string, number>
}

/** An HTTP proxy as companies have one: it makes tunnels for those who show user and password. */
export async function openConnectProxy(): Promise<ConnectProxy> {
  const asked: string[] = []
  const ports = new Map<string, number>()
  const sockets = new Set<Socket>()
  const wanted = `Basic ${Buffer.from('user:s3cret').toString('base64')}`
  const server = createServer((_request, response) => response.writeHead(405).end())
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('connect', (request, socket: Socket, head: Buffer) => {
    const target = request.url ?? ''
    const port = ports.get(target)
    const status = request.headers['proxy-authorization'] !== wanted ? 407 : port === undefined ? 502 : 200
    asked.push(status === 200 ? target : `${status} ${target}`)
    if (status !== 200 || port === undefined) {
      socket.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
    socket.on('close', () => upstream.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ...{ asked, port, portOf: ports, url: `http://user:s3cret@127.0.0.1:${port}` },
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
