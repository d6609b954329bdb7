import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CallEnd, CallRecord } from '../call-log.ts'
import type { CallSpan, OverlapWatch } from '../overlaps.ts'

/** One call under way: its line in the log of its group and its span of time. */
export interface WatchedCall<Line> {
  readonly record: Line
  readonly span: CallSpan
}
export type UpsertCall = WatchedCall<CallRecord>

interface Watch<Line> {
  calls: { begin(id: string, atMs: number): Line; end(line: NoInfer<Line>, end: CallEnd, atMs: number): void }
  overlaps: OverlapWatch
  now: () => number
}

/**
 * Begins the books of a call, and ends them when its answer has been handed to the operating system or its connection
 * is gone, whichever comes first. A fault that answers by hand sets the status itself.
 */
export function beginCall<Line extends { status: number | undefined }>(
  request: FastifyRequest,
  reply: FastifyReply,
  { calls, overlaps, now }: Watch<Line>,
): WatchedCall<Line> {
  const record = calls.begin(request.id, now())
  const span = overlaps.begin()
  const { socket } = request.raw

  const end = (answered: boolean) => {
    socket.off('end', onClientGone)
    socket.off('close', onClientGone)
    if (answered) record.status = reply.raw.statusCode
    overlaps.end(span, !answered)
    calls.end(record, answered ? 'answered' : 'client-gone', now())
  }
  const onClientGone = () => {
    // Broken off within its body: its products will never be known.
    if (!request.raw.complete) overlaps.skip(span)
    end(false)
  }
  // A sender that gives up half-closes first; without an answer from us the connection may never close entirely.
  socket.once('end', onClientGone)
  socket.once('close', onClientGone)
  reply.raw.once('finish', () => end(true))
  return { record, span }
}
