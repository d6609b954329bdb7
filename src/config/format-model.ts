/** Every part that is undefined is detected. */
export interface FormatConfig {
  type: 'csv' | 'tsv' | 'ndjson' | 'json' | 'xml' | 'xlsx' | undefined
  /** JSON: keys to the array of records, dots between, empty for the root. XML: `rss/channel/item`. */
  path?: string | undefined
  /** CSV, TSV and XLSX without a header line: columns are called `1`, `2`, … or as listed. */
  header?: 'none' | readonly string[] | undefined
  delimiter: string | undefined
  /** `none`: a quote is an ordinary character. */
  quote: '"' | "'" | 'none' | undefined
  encoding: Encoding | undefined
  /** Which members of a zip archive are read: a glob of their names. Default: all files that are not hidden. */
  members?: string | undefined
  /** Name of the sheet of a spreadsheet. Default: the first one that is not hidden. */
  sheet?: string | undefined
  /** Records above it refuse the file (usually a quote that is never closed). */
  recordBytes: number
}

/** The main names of the encodings that files may have; `lib/encoding.ts` knows further labels. */
export type Encoding =
  | 'utf-8'
  | `utf-${16 | 32}${'le' | 'be'}`
  | `windows-${874 | 1250 | 1251 | 1252 | 1253 | 1254 | 1255 | 1256 | 1257 | 1258}`
  | `iso-8859-${2 | 3 | 4 | 5 | 6 | 7 | 8 | 10 | 13 | 14 | 15 | 16}`
  | `koi8-${'r' | 'u'}`
  | `ibm${437 | 850 | 852 | 866}`
  | 'macintosh'
  | 'shift_jis'
  | 'euc-jp'
  | 'gb18030'
  | 'big5'
  | 'euc-kr'
