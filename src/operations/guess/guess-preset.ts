import { z } from 'zod'
import { listPresets, readPreset } from '../../config/preset-file.ts'
import { foldName } from './header-names.ts'
import type { SampleTable } from './sample-table.ts'

/** A preset that knows the columns of a file, and what it asks for. */
export interface PresetGuess {
  preset: string
  /** The columns by which it was recognised. */
  signature: readonly string[]
  needsShopUrl: boolean
  needsCurrency: boolean
  /** No file that it reads says the currency. */
  requiresCurrency: boolean
  /** It can be told how the shop writes numbers. */
  takesMarks: boolean
}

const signatureSchema = z.array(z.array(z.string()).min(1))

/** The preset whose longest signature is among the columns. Keys of objects must be written as the preset has them. */
export function guessPreset({
  columns,
  dialect,
}: Pick<SampleTable, 'columns' | 'dialect'>): PresetGuess | undefined {
  const folded = new Set(dialect.type === 'csv' ? columns.map(foldName) : [])
  const exact = new Set(columns)
  const isThere = (name: string) => exact.has(name) || (!name.includes(':') && folded.has(foldName(name)))
  const candidates = listPresets().flatMap((name) => {
    const preset = readPreset(name, '.')
    if (typeof preset === 'string') return []
    const signatures = signatureSchema.safeParse(preset.signature).data ?? []
    const [signature] = signatures.filter((one) => one.every(isThere)).sort((a, b) => b.length - a.length)
    return signature ? [{ preset: name, signature, ...needsOf(preset) }] : []
  })
  return candidates.sort((one, other) => other.signature.length - one.signature.length)[0]
}

function needsOf(preset: Readonly<Record<string, unknown>>) {
  const text = JSON.stringify(preset)
  return {
    needsShopUrl: /\$\{preset\.shopUrl\}/.test(text),
    takesMarks: /\$\{preset\.decimal/.test(text),
    requiresCurrency: /\$\{preset\.currency\}/.test(text),
    needsCurrency: /\$\{preset\.currency/.test(text),
  }
}
