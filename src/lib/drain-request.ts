import type { IncomingMessage, RequestListener, Server } from 'node:http'

/** What is read of a body after its answer, and for how long. */
const drainedBytesMax = 40_000_000
const drainMsMax = 5_000

/**
 * For answers that come before the end of a body: the rest is read and dropped. A connection that is closed on a sender
 * costs it the answer, and one that is left unread hangs with the next request. Past a bound the connection is destroyed.
 * Handlers need not do anything, and should not ask for `connection: close`.
 */
export function drainRequests(server: Server): void {
  const drainAfterAnswer: RequestListener = (request, response) => {
    // The answer has been handed to the connection, and the server has not yet decided what becomes of that.
    response.once('prefinish', () => {
      if (request.complete) request.resume()
      else drain(request)
    })
  }
  server.prependListener('request', drainAfterAnswer)
  // An unknown `Expect` is otherwise refused without this hook, and what follows read for ever.
  server.on('checkExpectation', (request, response) => {
    drainAfterAnswer(request, response)
    response.writeHead(417).end()
  })
}

function drain(request: IncomingMessage): void {
  const { socket } = request
  const bytesMax = socket.bytesRead + drainedBytesMax
  const { destroySoon } = socket
  let isLast = false
  // Who sends `connection: close` is told that nothing more comes, and may finish its body.
  socket.destroySoon = () => {
    isLast = true
    socket.end()
  }
  const timer = setTimeout(() => socket.destroy(), drainMsMax)
  request.once('close', () => {
    clearTimeout(timer)
    socket.destroySoon = destroySoon
    if (isLast) socket.destroySoon()
  })
  request.removeAllListeners('data')
  request.on('data', () => {
    if (socket.bytesRead > bytesMax) socket.destroy()
  })
  // Begins to read at once: the server drops a body that nobody has begun to read, and then there is nothing to count.
  request.read(0)
  request.resume()
}
