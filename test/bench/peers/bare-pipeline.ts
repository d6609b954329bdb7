import { readFile } from 'node:fs/promises'
import { watch } from 'chokidar'
import { parse } from 'csv-parse/sync'

// bare-pipeline.ts <folder> <url>: sends each file that appears in the folder, as the least that anybody would write.

const [folder = '', url = ''] = process.argv.slice(2)
const watcher = watch(folder, { ignoreInitial: true })
watcher.on('add', async (file) => {
  const rows = parse(await readFile(file), {
    columns: true,
    cast: (cell, { column }) => (column === 'price' ? Number(cell) : cell),
  })
  const body = JSON.stringify(rows)
  const response = await fetch(`${url}/v1/products/upsert`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  await response.text()
})
watcher.once('ready', () => process.send?.('ready'))
process.once('disconnect', () => process.exit())
