import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, writeDurably } from '../lib/durable.ts'
import { ifPresent } from '../lib/errors.ts'

/** Names this state folder, so that sequences of another one are never taken for its own. */
export async function readStateId(dir: string): Promise<string> {
  const file = join(dir, 'id')
  const known = await ifPresent(readFile(file, 'utf8'))
  if (known !== undefined) return known.trim()
  await makeFolder(dir)
  const id = randomUUID()
  await writeDurably(file, `${id}\n`, `${file}.tmp`)
  return id
}
