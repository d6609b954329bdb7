import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError, systemErrorCode } from '../lib/errors.ts'
import { formatFile } from './format-file.ts'
import { kindRules } from './kinds.ts'
import {
  type DesiredItem,
  type ExistingItem,
  type StackItems,
  type StackKind,
  type StackProblem,
  stackKinds,
} from './model.ts'
import { parseFile } from './parse-file.ts'

/** Far above the files of any Stack. */
const fileBytesMax = 64_000_000

export interface StackFiles {
  /** A kind whose file is absent is absent here. */
  desired: StackItems<DesiredItem>
  problems: StackProblem[]
  /** YAML files of other names, which nobody reads. */
  ignored: string[]
}

/** What the files of a folder want. Throws a ConfigError when there are none. */
export async function readStackFiles(dir: string): Promise<StackFiles> {
  const names = await listFolder(dir)
  const desired: Partial<Record<StackKind, DesiredItem[]>> = {}
  const problems: StackProblem[] = []
  for (const kind of stackKinds) {
    if (!names.includes(kindRules[kind].file)) continue
    const file = join(dir, kindRules[kind].file)
    const parsed = parseFile(kind, { file, text: await readText(file) })
    desired[kind] = parsed.items
    problems.push(...parsed.problems)
  }
  const known = stackKinds.map((kind) => kindRules[kind].file)
  if (Object.keys(desired).length === 0) {
    throw new ConfigError('stack-files', `${dir} holds none of ${known.join(', ')}`, {
      hint: 'Run "catalogd stack pull" to write them, or name their folder with --dir',
    })
  }
  const ignored = names.filter((name) => /\.ya?ml$/i.test(name) && !known.includes(name))
  return { desired, problems, ignored }
}

export interface WrittenFile {
  kind: StackKind
  file: string
  items: number
  /** Whether it says something else than before. */
  changed: boolean
}

/** Writes the files of the kinds that are given; each is there whole or as it was before. */
export async function writeStackFiles(dir: string, items: StackItems<ExistingItem>): Promise<WrittenFile[]> {
  await mkdir(dir, { recursive: true })
  const written: WrittenFile[] = []
  for (const kind of stackKinds) {
    const existing = items[kind]
    if (existing === undefined) continue
    const file = join(dir, kindRules[kind].file)
    const text = formatFile(kind, existing)
    const before = await readFile(file, 'utf8').catch(() => undefined)
    const named = existing.filter(({ name }) => name !== '').length
    if (before !== text) {
      await writeFile(`${file}.new`, text)
      await rename(`${file}.new`, file)
    }
    written.push({ kind, file, items: named, changed: before !== text })
  }
  return written
}

async function listFolder(dir: string): Promise<string[]> {
  try {
    return await readdir(dir)
  } catch (cause) {
    const code = systemErrorCode(cause)
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw cause
    const found = code === 'ENOENT' ? 'does not exist' : 'is no folder'
    throw new ConfigError('stack-files', `${dir} ${found}`, {
      hint: 'Run "catalogd stack pull" to write the files, or name their folder with --dir',
      cause,
    })
  }
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file)
  if (bytes.length > fileBytesMax) {
    throw new ConfigError(
      'stack-files',
      `${file} has ${bytes.length} bytes, at most ${fileBytesMax} are read`,
      {
        hint: 'Name a folder with the files of a Stack',
      },
    )
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ConfigError('stack-files', `${file} is not UTF-8`, { hint: 'Save it as UTF-8', cause })
  }
}
