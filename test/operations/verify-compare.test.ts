import { expect, it } from 'vitest'
import { compareProduct } from '../../src/operations/verify-products.ts'

const ours = {
  product_id: 'P',
  name: 'Pan',
  url: 'https://shop.example/pfanne ü',
  availability: 'InStock',
  price: 20,
  price_currency_code: 'EUR',
  rating_value: '4.50',
  review_count: '12',
  supplier_cost: 7,
  skus: [{ id: 'a', availability: 'InStock', inventory_level: 3 }, { name: 'without id' }],
}

it('compares what the response has, whatever form it has it in', () => {
  expect(
    compareProduct(ours, {
      productId: 'P',
      name: ' Pan',
      url: 'https://shop.example/pfanne%20%C3%BC',
      availability: 'https://schema.org/InStock',
      price: 20,
      listPrice: 20,
      currencyCode: 'EUR',
      ratingValue: 4.5,
      reviewCount: 12,
      supplierCost: 1,
      skus: [{ id: 'a', availability: 'in stock', inventoryLevel: 3 }],
    }),
  ).toEqual([])
  expect(compareProduct(ours, { productId: 'P' })).toEqual([])
})

it('tells what is other, gone or added', () => {
  const skus = [
    { id: 'a', inventoryLevel: 2 },
    { id: 'b', name: 'B' },
  ]
  expect(
    compareProduct(ours, { productId: 'P', name: null, brand: 'Acme', price: 20.5, listPrice: 30, skus }),
  ).toEqual([
    { field: 'name', ours: 'Pan', theirs: null },
    { field: 'brand', ours: null, theirs: 'Acme' },
    { field: 'price', ours: 20, theirs: 20.5 },
    { field: 'list_price', ours: null, theirs: 30 },
    { field: 'skus[a].inventory_level', ours: 3, theirs: 2 },
    { field: 'skus[b]', ours: null, theirs: { id: 'b', name: 'B' } },
  ])
  expect(compareProduct(ours, { productId: 'P', skus: null }).map(({ field }) => field)).toEqual(['skus[a]'])
})
