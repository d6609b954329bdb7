import { reasonColumn } from './model.ts'

/** The first columns of a file of rejected records: they are about each record, and no part of it. Files of earlier versions have the reason alone. */
export const rejectColumns = [
  'catalogd_line',
  'catalogd_field',
  'catalogd_value',
  reasonColumn,
  'catalogd_remedy',
] as const
