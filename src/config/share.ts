import type { Share } from './model.ts'

/** JSON Schema of a share. */
export const shareJson = {
  type: ['string', 'number'],
  minimum: 0,
  maximum: 1,
  pattern: '^\\d+(\\.\\d+)?%?$',
} as const

/** `10%` or 0.1 → 0.1; undefined when it is neither, or more than all. */
export function parseShare(value: unknown): Share | undefined {
  const share = typeof value === 'string' ? parseText(value.trim()) : value
  return typeof share === 'number' && share >= 0 && share <= 1 ? share : undefined
}

function parseText(text: string): number | undefined {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  return percent === '%' ? Number(digits) / 100 : Number(digits)
}
