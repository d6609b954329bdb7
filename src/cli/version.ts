import { readFile } from 'node:fs/promises'
import { z } from 'zod'

const manifestSchema = z.object({ version: z.string() })

/** The version of the package: its manifest lies two folders above, of the source as of the compiled files. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return manifestSchema.parse(JSON.parse(text)).version
}
