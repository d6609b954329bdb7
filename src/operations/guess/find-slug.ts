import type { ColumnFacts } from './column-facts.ts'

const slugName = /(?:^|[.=_ -])(?:(?:url[ _-]?)?(?:handle|slug)|url[ _-]?key|seo?[ _-]?name)(?:\]\.\w+)?$/i

/** The last part of the address of a product: as different as their ids. */
export function findSlug(columns: readonly ColumnFacts[], ids = 1): ColumnFacts | undefined {
  return columns.find(({ column, distinct, values, filled }) => {
    const isSlug = filled > 0 && values.every((text) => /^[\p{L}\p{N}_%.-]+$/u.test(text))
    return isSlug && slugName.test(column) && distinct > 0.9 * ids
  })
}
