import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Rows of the new file that the old one lacks, compared as texts. */
export async function loadDuckdb() {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  return async (before = '', after = ''): Promise<number> => {
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    const rows = (file: string) =>
      `SELECT * FROM read_csv('${file.replaceAll("'", "''")}', header = true, all_varchar = true, delim = ',', quote = '"', escape = '"')`
    const reader = await connection.runAndReadAll(`${rows(after)} EXCEPT ${rows(before)}`)
    const count = reader.currentRowCount
    connection.closeSync()
    instance.closeSync()
    return count
  }
}

/** Lines, not records: where a description has line breaks it says less than is needed. */
export async function runDiff(before = '', after = ''): Promise<number> {
  const child = spawn('diff', ['--speed-large-files', before, after], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let lines = 0
  child.stdout.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf('\n> '); at >= 0; at = chunk.indexOf('\n> ', at + 1)) lines += 1
  })
  await once(child, 'close')
  return lines
}
