import { z } from 'zod'
import { listPresets, readPreset } from '../../config/preset-file.ts'
import { foldName } from './header-names.ts'
import type { SampleTable } from './sample-table.ts'

/** A preset that knows the columns of a file, and what it asks for. */
export interface PresetGuess {
  preset: string
  signature: readonly string[]
  needsShopUrl: boolean
  needsCurrency: boolean
  /** No file that it reads says the currency. */
  requiresCurrency: boolean
  /** Columns that the file lacks, and keys of the feed that do without them. */
  without: readonly { column: string; instead: Readonly<Record<string, unknown>> }[]
  /** It can be told how the shop writes numbers. */
  takesMarks: boolean
}

const signatureSchema = z.array(z.array(z.string()).min(1))
const withoutSchema = z.record(z.string(), z.record(z.string(), z.unknown()))
const aliasesSchema = z.record(z.string(), z.array(z.string()))
/** Of a signature that lacks a column: fewer could be any shop's. */
const knownColumnsMin = 3

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
    const aliases = aliasesSchema.safeParse(preset.aliases).data ?? {}
    const without = Object.entries(withoutSchema.safeParse(preset.without).data ?? {})
      .filter(([column]) => ![column, ...(aliases[column] ?? [])].some(isThere))
      .map(([column, instead]) => ({ column, instead }))
    const signatures = signatureSchema.safeParse(preset.signature).data ?? []
    const found = signatures.flatMap((whole) => {
      const signature = whole.filter((one) => !without.some(({ column }) => column === one))
      const isEnough = signature.length >= Math.min(whole.length, knownColumnsMin)
      return isEnough && signature.every(isThere) ? [signature] : []
    })
    const [signature] = found.sort((one, other) => other.length - one.length)
    return signature ? [{ preset: name, signature, without, ...needsOf(preset) }] : []
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
