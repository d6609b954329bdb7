/** Of lists that are shown by page. */
export interface PageQuery {
  offset?: string
  limit?: string
}

const shownMax = 10_000

export function pageOf(query: PageQuery, limitDefault = 100): { offset: number; limit: number } {
  const limit = Math.min(wholeNumber(query.limit, limitDefault), shownMax)
  return { offset: wholeNumber(query.offset, 0), limit }
}

/** A whole number of a query; whatever else stands there counts as left out. */
export function wholeNumber(text: unknown, otherwise: number): number {
  const value = typeof text === 'string' ? Number(text) : otherwise
  return Number.isSafeInteger(value) && value >= 0 ? value : otherwise
}

export function isoTime(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString()
}

const chunkBytes = 256 * 1024

/** What a stream or a file is given at once: enough for few writes, little enough for short turns of the event loop. */
export function* inChunks<Item, Piece extends string | Buffer>(
  items: Iterable<Item>,
  pieceOf: (item: Item) => Piece,
  join: (pieces: Piece[]) => Piece,
): Generator<Piece> {
  let chunk: Piece[] = []
  let length = 0
  for (const item of items) {
    const piece = pieceOf(item)
    chunk.push(piece)
    length += piece.length
    if (length < chunkBytes) continue
    yield join(chunk)
    chunk = []
    length = 0
  }
  yield join(chunk)
}
