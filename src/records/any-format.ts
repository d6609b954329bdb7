import type { FormatConfig } from '../config/format-model.ts'

/** Every part is detected: for files that no feed describes. */
export const anyFormat: Omit<FormatConfig, 'recordBytes'> = {
  type: undefined,
  delimiter: undefined,
  quote: undefined,
  encoding: undefined,
}
