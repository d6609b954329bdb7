import { findLocale } from './find-locale.ts'
import { type Lists, ofVariants } from './find-members.ts'
import { guessStock } from './guess-availability.ts'
import { amountRule, amountsOf } from './guess-prices.ts'
import type { Guesses, RuleGuess } from './model.ts'

export function skusRule(guesses: Guesses, { members, names }: Lists): RuleGuess[] {
  const list = (guesses.get('sale_price') ?? guesses.get('price'))?.facts.list
  if (list === undefined || !ofVariants.test(list)) return []
  const own = members.filter((facts) => facts.list === list)
  const below = (column: string) => column.slice(list.length + 1)
  const nameOf = (column: string) => names.find(column)?.meaning
  const called = (meaning: string) =>
    own.filter(({ column }) => nameOf(column) === meaning).map(({ column }) => below(column))
  // What the shop calls them goes before what its database does.
  const ids = called('product_id')
    .filter((name) => !/product|parent|item/i.test(name))
    .sort((one, other) => Number(/sku/i.test(other)) - Number(/sku/i.test(one)))
  if (ids.length === 0) return []
  const [name] = called('name')
  const locale = findLocale(amountsOf(guesses))
  const found = (meaning: string) => guesses.get(meaning)?.facts
  const [sale, regular, before] = [found('sale_price'), found('price'), found('list_price')]
  const price = [sale, regular].flatMap((facts) => (facts?.list === list ? [below(facts.column)] : []))
  const limit = sale && regular ? { below: below(regular.column) } : {}
  const { rows: _, ...stock } = guessStock(guesses).parts ?? { column: undefined }
  const ofStock = String(stock.column ?? '')
  const pieces = found('inventory_level')
  const listed = sale ? regular : before
  const image = own.find(
    ({ column, imageUrls, urlLists }) =>
      imageUrls > 0.8 && urlLists === 0 && !column.slice(list.length).includes('['),
  )
  const item = {
    id: ids.length === 1 ? ids[0] : { column: ids },
    ...(name === undefined ? {} : { name }),
    ...(image ? { image_url: below(image.column) } : {}),
    price: amountRule(price.length === 1 ? (price[0] ?? '') : price, locale, limit),
    ...(ofStock.startsWith(`${list}.`) ? { availability: { ...stock, column: below(ofStock) } } : {}),
    ...(pieces?.list === list && pieces.numbers > 0.9 ? { inventory_level: below(pieces.column) } : {}),
    ...(listed?.list === list
      ? { list_price: amountRule(below(listed.column), locale, { above: 'price' }) }
      : {}),
  }
  return [
    {
      field: 'skus',
      rule: { each: list, item },
      comment: `guessed: what "${list}" holds is sold under one product`,
    },
  ]
}
