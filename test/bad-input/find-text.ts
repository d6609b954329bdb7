import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The regular files below a folder that contain a text. */
export async function findText(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.filter((candidate) => candidate.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const content = await readFile(path).catch(() => Buffer.alloc(0))
    if (content.includes(text)) found.push(path)
  }
  return found
}
