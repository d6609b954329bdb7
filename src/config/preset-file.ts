import { readdirSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { systemErrorCode } from '../lib/errors.ts'

/** Beside the sources in a checkout, beside the built files in the package. */
const presetsDir = fileURLToPath(new URL('../../config/presets', import.meta.url))

/** A preset: keys of a feed, except those that name its place. */
export type Preset = Readonly<Record<string, unknown>>

/** Names of the presets that come with this program, sorted. */
export function listPresets(): string[] {
  return readdirSync(presetsDir)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => basename(name, '.yaml'))
    .sort()
}

/** Whether the name is that of a file of the user's own. */
export function isOwnPreset(name: string): boolean {
  return name.includes('/') || name.endsWith('.yaml')
}

/**
 * Reads one of the presets that come with this program, or a file of the user's own, relative to `folder`. Answers a
 * sentence where there is none.
 */
export function readPreset(name: string, folder: string): Preset | string {
  const isOwn = isOwnPreset(name)
  if (!isOwn && !listPresets().includes(name)) return `expected one of ${listPresets().join(', ')}`
  const file = isOwn ? resolve(folder, name) : resolve(presetsDir, `${name}.yaml`)
  try {
    const preset: unknown = parse(readFileSync(file, 'utf8'), { schema: 'core' })
    const isMapping = typeof preset === 'object' && preset !== null && !Array.isArray(preset)
    return isMapping ? (preset as Preset) : `${file} holds no mapping, expected keys of a feed`
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === undefined && !(error instanceof Error && error.name.startsWith('YAML'))) throw error
    return `${file} cannot be read (${code ?? (error as Error).message}), expected a YAML file with keys of a feed`
  }
}
