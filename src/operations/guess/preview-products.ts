import type { FeedConfig } from '../../config/model.ts'
import { readGroupedRecords } from '../../records/read-grouped-records.ts'
import { transformRecords } from '../../records/transform-records.ts'
import { openFile } from '../open-file.ts'

export interface ProductPreview {
  record: number
  line: number
  /** What the record sets, in contract order; undefined where it is rejected. */
  product: Readonly<Record<string, unknown>> | undefined
  problems: readonly string[]
}

interface PreviewOptions {
  feed: FeedConfig
  file: string
  count: number
  nowMs: number
  signal: AbortSignal
  /** Of the pass over the whole file. */
  onProgress?: ((bytesRead: number) => void) | undefined
}

/** The first products of a file as the feed maps them; none where the file is refused. */
export async function previewProducts(options: PreviewOptions): Promise<ProductPreview[]> {
  const { feed, file, count, nowMs, signal, onProgress } = options
  const opened = await openFile({ feed, file, signal, onProgress })
  if (opened.kind !== 'readable') return []
  const { judgement, bytes, name, mapping } = opened
  const { recordBytes } = feed.format
  const previews: ProductPreview[] = []
  const records = readGroupedRecords({ path: file, name, bytes, ...judgement, recordBytes, signal })
  for await (const batch of transformRecords(records, mapping.transform, { name })) {
    for (const record of batch.records) {
      const { patch, issues } = mapping.map(record, nowMs)
      const problems = issues.map(({ message }) => message)
      const product = patch && { product_id: patch.productId, ...patch.set }
      previews.push({ record: record.record, line: record.line, product, problems })
      if (previews.length >= count) return previews
    }
  }
  return previews
}
