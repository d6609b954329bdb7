import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { finished, pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import {
  type SampleOptions,
  sampleColumns,
  sampleRow,
  writeSampleFeed,
} from '../../../src/quickstart/sample-feed.ts'

export type FeedFormat = 'csv' | 'ndjson' | 'xml' | 'csv.gz'

/** The products of the sample in another format, the same bytes every time. Returns the bytes. */
export async function writeFeed(file: string, format: FeedFormat, options: SampleOptions): Promise<number> {
  switch (format) {
    case 'csv':
      return writeSampleFeed(file, options)
    case 'csv.gz': {
      const plain = `${file}.plain`
      const bytes = await writeSampleFeed(plain, options)
      await pipeline(createReadStream(plain), createGzip({ level: 1 }), createWriteStream(file))
      return bytes
    }
    case 'ndjson':
      return writeRecords(file, options, { record: (cells) => `${JSON.stringify(objectOf(cells))}\n` })
    case 'xml':
      return writeRecords(file, options, {
        head: '<?xml version="1.0" encoding="UTF-8"?>\n<products>\n',
        record: (cells) => `<product>${cells.map(elementOf).join('')}</product>\n`,
        tail: '</products>\n',
      })
  }
}

/** One per cent of the prices differ from the plain sample. */
export function isRepriced(product: number): boolean {
  return product % 100 === 7
}

interface Form {
  head?: string
  record: (cells: string[]) => string
  tail?: string
}

async function writeRecords(file: string, options: SampleOptions, { head = '', record, tail = '' }: Form) {
  const stream = createWriteStream(file)
  stream.write(head)
  for (let product = 0; product < options.products; product += 1) {
    if (!stream.write(record(sampleRow(product, options)))) await once(stream, 'drain')
  }
  stream.end(tail)
  await finished(stream)
  return stream.bytesWritten
}

function objectOf(cells: readonly string[]): Record<string, string> {
  return Object.fromEntries(sampleColumns.map((column, index) => [column, cells[index] ?? '']))
}

function elementOf(cell: string, index: number): string {
  const name = sampleColumns[index]
  return `<${name}>${cell.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</${name}>`
}
