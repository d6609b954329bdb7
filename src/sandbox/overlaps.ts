/**
 * One upsert call as its sender sees it: from the arrival of its head until its answer is sent, or until the sender
 * has closed the connection. Ticks count events, so that order is exact where clocks would tie.
 */
export interface CallSpan {
  readonly begunTick: number
  /** A full turn of the event loop after the beginning. */
  settledTick: number
  endedTick: number | undefined
  /** The sender closed the connection before it was answered. */
  clientGone: boolean
  ids: readonly string[]
}

/**
 * Finds products that were in two calls at one time.
 *
 * A span is *unread* (begun, its products not known yet), *open* (its products are known) and *ended*. The products
 * of an ended span are remembered while a call that began before its end is still unread, since that call may turn
 * out to hold the same products.
 */
export class OverlapWatch {
  #tick = 0
  readonly #unread = new Set<CallSpan>()
  readonly #latest = new Map<string, CallSpan>()
  #ended: CallSpan[] = []
  readonly #overlapping = new Set<string>()

  begin(): CallSpan {
    this.#tick += 1
    const span = {
      begunTick: this.#tick,
      settledTick: this.#tick,
      endedTick: undefined,
      clientGone: false,
      ids: [],
    }
    this.#unread.add(span)
    return span
  }

  /**
   * To be called one turn of the event loop after `begin`. A sender that gives up one call and starts the next has
   * closed the first before, but the two events may be seen in either order within one turn.
   */
  settle(span: CallSpan): void {
    this.#tick += 1
    span.settledTick = this.#tick
  }

  /** The products of a call are known. */
  enter(span: CallSpan, ids: readonly string[]): void {
    this.#unread.delete(span)
    span.ids = ids
    for (const id of ids) {
      const other = this.#latest.get(id)
      if (other === span) continue
      if (other !== undefined && doOverlap(other, span)) this.#overlapping.add(id)
      this.#latest.set(id, span)
    }
    this.#forgetEnded()
  }

  /** Safe to repeat; the first end counts. */
  end(span: CallSpan, clientGone: boolean): void {
    if (span.endedTick !== undefined) return
    this.#tick += 1
    span.endedTick = this.#tick
    span.clientGone = clientGone
    this.#ended.push(span)
    // A call that is still being read by us (its sender is gone) is forgotten once its products are known.
    if (!this.#unread.has(span)) this.#forgetEnded()
  }

  /** The call will never have products: refused before its body was read, or not readable. */
  skip(span: CallSpan): void {
    this.#unread.delete(span)
    this.#forgetEnded()
  }

  get count(): number {
    return this.#overlapping.size
  }

  first(limit: number): string[] {
    const ids: string[] = []
    for (const id of this.#overlapping) {
      if (ids.length >= limit) break
      ids.push(id)
    }
    return ids
  }

  clear(): void {
    this.#overlapping.clear()
    this.#latest.clear()
    this.#ended = []
  }

  #forgetEnded(): void {
    let oldestUnread = Number.POSITIVE_INFINITY
    for (const span of this.#unread) oldestUnread = Math.min(oldestUnread, span.begunTick)
    this.#ended = this.#ended.filter((span) => {
      if (this.#unread.has(span) || (span.endedTick ?? 0) > oldestUnread) return true
      for (const id of span.ids) if (this.#latest.get(id) === span) this.#latest.delete(id)
      return false
    })
  }
}

function doOverlap(one: CallSpan, other: CallSpan): boolean {
  return isOpenAtBeginning(one, other) && isOpenAtBeginning(other, one)
}

/** Whether `span` had not ended when `later` began. */
function isOpenAtBeginning(span: CallSpan, later: CallSpan): boolean {
  if (span.endedTick === undefined) return true
  return span.endedTick > (span.clientGone ? later.settledTick : later.begunTick)
}
