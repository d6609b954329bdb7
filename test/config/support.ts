import { writeFile } from 'node:fs/promises'
import { productFields } from '../../src/api/contract/product.ts'
import { checkConsentRule } from '../../src/catalog/consent-mapping.ts'
import { keyProblem } from '../../src/catalog/feed-key.ts'
import { groupProblems } from '../../src/catalog/group-links.ts'
import { checkRule } from '../../src/catalog/mapping.ts'
import { type LoadedConfig, readConfig } from '../../src/config/load.ts'
import { ConfigProblemsError, formatProblem } from '../../src/config/problems.ts'
import { tempDir } from '../support/temp-dir.ts'

export interface Given {
  env?: Record<string, string | undefined>
  /** Without what the catalog stage knows of fields. */
  plain?: boolean
  /** Files beside the configuration. */
  files?: Record<string, string>
}

/** Reads a configuration from a folder of its own. Paths in the result are absolute below `folder`. */
export async function read(
  text: string,
  given: Given = {},
): Promise<{ loaded: LoadedConfig; folder: string }> {
  await using folder = await tempDir('config')
  const file = folder.join('catalogd.yaml')
  await writeFile(file, text)
  for (const [name, content] of Object.entries(given.files ?? {})) await writeFile(folder.join(name), content)
  const knowledge = given.plain
    ? {}
    : { productFields, checkRule, checkGroup: groupProblems, keyProblem, checkConsentRule }
  return { loaded: await readConfig({ file, env: given.env ?? {}, ...knowledge }), folder: folder.path }
}

/** All problems of a configuration, as `line:column path: message`; none when it loads. */
export async function problemsOf(text: string, given: Given = {}): Promise<string[]> {
  try {
    await read(text, given)
    return []
  } catch (error) {
    if (!(error instanceof ConfigProblemsError)) throw error
    return error.problems.map((problem) => formatProblem(problem).replace(`${problem.file}:`, ''))
  }
}

/** A sound configuration with one feed, into which a test puts its own lines. Columns and lines count as they stand. */
export function withFeed(feedLines: string, catalogLines = ''): string {
  return `catalogs:
  main:
    api: { url: https://api.example, productsToken: abc }
    feeds:
      products:
        drop: ./drop
${indent(feedLines, 8)}${indent(catalogLines, 4)}`
}

function indent(lines: string, columns: number): string {
  if (lines === '') return ''
  return `${lines
    .trim()
    .split('\n')
    .map((line) => ' '.repeat(columns) + line)
    .join('\n')}\n`
}
