import { tmpdir } from 'node:os'
import { HeldRows } from './held-rows.ts'
import type { PassResult } from './judge-pass.ts'
import type { ParsedRecord, RecordBatch, RejectedRecord } from './model.ts'
import { OpenGroups } from './open-groups.ts'
import { type ReadOptions, readRecords } from './read-records.ts'

interface GroupedReadOptions extends ReadOptions {
  /** From the first pass. */
  grouping?: PassResult['grouping']
  /** Memory that waiting rows may take, in bytes. */
  heldBytesMax?: number
}

/** Of one batch, like those that are read. */
const readyRowsMax = 128

/**
 * The second pass with the rows of one product as one record, wherever in the file they stand: it comes with the last of
 * them. A rejected row rejects all rows of its product. Without grouping, the records as they are.
 */
export async function* readGroupedRecords(options: GroupedReadOptions): AsyncGenerator<RecordBatch> {
  const { grouping, columns, recordBytes, spillDir = tmpdir(), heldBytesMax = 64 * 2 ** 20 } = options
  if (!grouping) {
    yield* readRecords(options)
    return
  }
  const { table, links } = grouping
  const { headColumns, column: linkColumn } = links
  await using held = new HeldRows({ dir: spillDir, bytesMax: heldBytesMax })
  const groups = new OpenGroups(
    { table, columns, headColumns, linkColumn },
    { held, groupBytesMax: recordBytes },
  )
  for await (const { records, rejected, bytesRead } of readRecords(options)) {
    for (const { row, rejection } of inFileOrder(records, rejected)) {
      await groups.take(row, rejection)
      if (groups.readyRows >= readyRowsMax) yield { ...groups.flush(), bytesRead }
    }
    yield { ...groups.flush(), bytesRead }
  }
}

function inFileOrder(records: readonly ParsedRecord[], rejected: readonly RejectedRecord[]) {
  const rows: { row: ParsedRecord; rejection?: RejectedRecord }[] = records.map((row) => ({ row }))
  if (rejected.length === 0) return rows
  rows.push(...rejected.map((row) => ({ row, rejection: row })))
  return rows.sort((one, other) => one.row.record - other.row.record)
}
