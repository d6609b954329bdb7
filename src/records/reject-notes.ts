import { reasonOf } from '../lib/reason-of.ts'
import type { RecordIssue, RejectedRecord } from './model.ts'

/** What a file of rejected records says about one of them: a text each, on one line, empty where there is nothing to say. */
interface RejectNote {
  field: string
  value: string
  reason: string
  remedy: string
}

export interface RejectNotes {
  /** Of the record in the file it was read from. */
  line: number
  /** At least one. */
  notes: readonly RejectNote[]
}

/** Why a record is rejected; its warnings only where it has nothing else. */
export function notesOf({ line, issues }: RejectedRecord): RejectNotes {
  const reasons = issues.filter(({ severity }) => severity === 'reject')
  return { line, notes: (reasons.length > 0 ? reasons : issues).map(noteOf) }
}

function noteOf(issue: RecordIssue): RejectNote {
  const { field = '', value = '', remedy = '' } = issue
  return {
    field: oneLine(field),
    value: oneLine(value),
    reason: oneLine(reasonOf(issue)),
    remedy: oneLine(remedy),
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
