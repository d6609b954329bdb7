import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CallLog, CallRecord } from './call-log.ts'
import type { CallSpan, OverlapWatch } from './overlaps.ts'

/** One upsert call under way: its line in the call log and its span of time. */
export interface UpsertCall {
  readonly record: CallRecord
  readonly span: CallSpan
}

interface Watch {
  calls: CallLog
  overlaps: OverlapWatch
  now: () => number
}

/**
 * Begins the books of a call, and ends them when its answer has been handed to the operating system or its connection
 * is gone, whichever comes first. A fault that answers by hand sets the status itself.
 */
export function beginCall(
  request: FastifyRequest,
  reply: FastifyReply,
  { calls, overlaps, now }: Watch,
): UpsertCall {
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
