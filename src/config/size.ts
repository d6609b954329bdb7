const unitBytes = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
} as const
const form = /^(\d+(?:\.\d+)?) ?(B|kB|KB|MB|GB|KiB|MiB|GiB)?$/

/** JSON Schema of a size. */
export const sizeJson = {
  type: ['string', 'integer'],
  pattern: '^\\d+(\\.\\d+)? ?(B|kB|KB|MB|GB|KiB|MiB|GiB)?$',
} as const

/** Plain bytes, or `2MB` (2,000,000), `16MiB` … → whole bytes; undefined when it is none. */
export function parseSize(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined
  if (typeof value !== 'string') return undefined
  const [, amount, unit = 'B'] = form.exec(value.trim()) ?? []
  if (amount === undefined) return undefined
  const bytes = Number(amount) * unitBytes[unit as keyof typeof unitBytes]
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
