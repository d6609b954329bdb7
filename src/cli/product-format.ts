import type { ProductPreview } from '../operations/guess/try-guess.ts'

/** Values are cut: a description would hide the next product. */
const shownCharacters = 60

/** As they would be sent. */
export function formatProducts(products: readonly ProductPreview[]): string[] {
  return products.flatMap(({ record, product }) => [
    `As it would be sent, from record ${record}:`,
    ...Object.entries(product).map(([field, value]) => `    ${field.padEnd(22)}${show(value)}`),
    '',
  ])
}

function show(value: unknown): string {
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ')
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
}
