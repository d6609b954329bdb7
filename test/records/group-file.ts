import type { GroupConfig } from '../../src/config/model.ts'
import type { GroupTable } from '../../src/records/group-table.ts'
import type { IdReader } from '../../src/records/judge-model.ts'
import type { ParsedRecord, RejectedRecord } from '../../src/records/model.ts'
import { readGroupedRecords } from '../../src/records/read-grouped-records.ts'
import { anyFormat, type FeedFolder, judge } from './feed-file.ts'

/** Reads ids from `id` (rows without one, or with `variant` in `ref`, may belong to the row above), names from `id` and `ref` (as `id:<ref>`), parents from `parent`, members from `members`. */
export function linkReader(by: GroupConfig['by']) {
  return (columns: readonly string[]): IdReader => {
    const indices = ['id', 'ref', 'parent', 'members']
      .map((column) => columns.indexOf(column))
      .filter((index) => index >= 0)
    const read = (cells: readonly unknown[]) => {
      const at = (column: string) => {
        const place = indices.indexOf(columns.indexOf(column))
        return place < 0 ? '' : String(cells[place] ?? '').trim()
      }
      return { id: at('id'), ref: at('ref'), parent: at('parent'), members: at('members') }
    }
    return {
      indices,
      read: (cells) => read(cells).id || undefined,
      links: {
        by,
        headColumns: [columns.indexOf('id')],
        column: by === 'parent' || by === 'members' ? by : undefined,
        read: (cells) => {
          const { id, ref, parent, members } = read(cells)
          const names = [...(id === '' ? [] : [id]), ...(ref === '' ? [] : [`id:${ref}`])]
          return {
            names,
            parent: parent === '' ? undefined : parent,
            members: members === '' ? [] : members.split('|'),
            continues: by === 'above' && (id === '' || ref === 'variant'),
          }
        },
      },
    }
  }
}

export interface GroupedFile {
  table: GroupTable
  records: ParsedRecord[]
  rejected: RejectedRecord[]
  counted: number
  batches: number
}

/** Both passes over a file of rows. */
export async function readGroups(
  folder: FeedFolder,
  text: string,
  { by = 'id', ...options }: { by?: GroupConfig['by']; heldBytesMax?: number; recordBytes?: number } = {},
): Promise<GroupedFile> {
  const source = await folder.write(text.startsWith('{') ? 'a.ndjson' : 'a.csv', text)
  const judgement = await judge(source, {
    openIdReader: linkReader(by),
    neededColumns: ['id', 'ref', 'parent', 'members', 'name', 'list'],
  })
  const { recordBytes } = anyFormat
  const file: GroupedFile = {
    table: judgement.grouping?.table as GroupTable,
    records: [],
    rejected: [],
    counted: judgement.records,
    batches: 0,
  }
  const spillDir = folder.path('spill')
  for await (const batch of readGroupedRecords({
    ...source,
    ...judgement,
    recordBytes,
    spillDir,
    ...options,
  })) {
    file.records.push(...batch.records)
    file.rejected.push(...batch.rejected)
    file.batches += 1
  }
  return file
}
