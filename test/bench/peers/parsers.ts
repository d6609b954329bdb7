import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'

/** Each gives the number of rows, the header not counted. */

/** `objects`: with the names of the columns, as most programs use it. */
export async function runCsvParse(file = '', form = 'objects'): Promise<number> {
  let rows = form === 'objects' ? 0 : -1
  const parser = createReadStream(file, { highWaterMark: 1 << 20 }).pipe(
    parse({ columns: form === 'objects' }),
  )
  parser.on('data', () => {
    rows += 1
  })
  await new Promise((resolve, reject) => parser.once('end', resolve).once('error', reject))
  return rows
}

export async function loadPapaparse() {
  const { default: papaparse } = await import('papaparse')
  return async (file = ''): Promise<number> => {
    let rows = -1
    await new Promise((resolve, reject) => {
      papaparse.parse(createReadStream(file, { highWaterMark: 1 << 20, encoding: 'utf8' }), {
        skipEmptyLines: true,
        chunk: ({ data }) => {
          rows += data.length
        },
        complete: resolve,
        error: reject,
      })
    })
    return rows
  }
}

export async function loadUdsv() {
  const { inferSchema, initParser } = await import('udsv')
  return async (file = ''): Promise<number> => {
    let parser: ReturnType<typeof initParser> | undefined
    let rows = 0
    for await (const text of createReadStream(file, { highWaterMark: 1 << 20, encoding: 'utf8' })) {
      parser ??= initParser(inferSchema(text))
      parser.chunk<string[]>(text, parser.stringArrs, () => {
        rows += 1
      })
    }
    parser?.end()
    return rows
  }
}
