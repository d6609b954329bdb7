import { expect, it } from 'vitest'
import { Workplace } from './daemon.ts'

const catalog = `
feeds:
  products:
    drop: ./drop/products
    settle: 0s
    fields: { product_id: id, name: title, url: url, image_url: url, price: price, price_currency_code: { value: EUR }, availability: stock }
`

/** With every second product from the second price on. */
function feedOf(price: number): string {
  const rows = Array.from({ length: 400 }, (_, at) =>
    price === 1 && at % 2 === 1 ? [] : `p${at},Product ${at},https://shop.example/p${at},${price},in stock`,
  ).flat()
  return ['id,title,url,price,stock', ...rows, ''].join('\n')
}

it('sends the new products of a file that changes others, too', async () => {
  await using workplace = await Workplace.open(catalog)
  await workplace.start()
  for (const [at, price] of [1, 2, 3].entries()) {
    await workplace.drop('products', `${price}.csv`, feedOf(price))
    await workplace.untilImported(at + 1)
    await workplace.untilQuiet()
    const documents = await workplace.documents()
    expect(documents.size).toBe(price === 1 ? 200 : 400)
    expect(new Set([...documents.values()].map((document) => document.price))).toEqual(new Set([price]))
  }
  expect(await workplace.status()).toMatchObject({ overview: { dead: 0 } })
})
