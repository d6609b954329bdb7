/** Runs a step for each item, so many at a time; results in the order of the items. Ends all before it throws the first error. */
export async function mapPool<T, R>(
  items: readonly T[],
  atOnce: number,
  step: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  const errors: unknown[] = []
  const entries = items.entries()
  const work = async () => {
    for (const [position, item] of entries) {
      if (errors.length > 0) return
      try {
        results[position] = await step(item)
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
  if (errors.length > 0) throw errors[0]
  return results
}
