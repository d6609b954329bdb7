/** Whether an amount is above the price; what is no number is not held against anything. */
export function isAbovePrice(amount: unknown, price: unknown): boolean {
  return typeof amount !== 'number' || typeof price !== 'number' || amount > price
}
