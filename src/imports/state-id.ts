import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemErrorCode } from '../lib/errors.ts'
import { privateFileMode, privateFolderMode } from '../lib/private-modes.ts'

/** Names this state folder, so that sequences of another one are never taken for its own. */
export async function readStateId(dir: string): Promise<string> {
  const file = join(dir, 'id')
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error
  }
  await mkdir(dir, { recursive: true, mode: privateFolderMode })
  const id = randomUUID()
  await writeFile(`${file}.tmp`, `${id}\n`, { mode: privateFileMode })
  await rename(`${file}.tmp`, file)
  return id
}
