/** Reasons that differ in numbers, quoted values and ids only are one: the operator decides about all of them at once. */
export function reasonKey(reason: string): string {
  return reason
    .replaceAll(/"[^"]*"|'[^']*'/g, '"…"')
    .replaceAll(/\d+(?:[.,]\d+)*/g, '#')
    .slice(0, 300)
}
