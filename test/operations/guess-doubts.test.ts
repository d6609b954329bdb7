import { expect, it } from 'vitest'
import { fewForSale } from '../../src/operations/guess/try-guess.ts'
import { guessText, tableOf } from './guess-support.ts'

const five = ['1', '2', '3', '4', '5']
const xml = (item: (row: string) => string) => `<shop>${five.map(item).join('')}</shop>`
const rest = (row: string) =>
  `<link>https://c.example/${row}</link><image>https://c.example/${row}.jpg</image><price>${row}0.00</price>`

it('a name that is the same in all products loses, and the id of a producer is none of theirs', async () => {
  const { rules } = await guessText(
    xml(
      (row) =>
        `<product><unit id="0" name="szt."/><producer id="${row === '1' ? 7 : row}" name="Lumo"/>
        <code>K-${row}</code><description><name>Cup no. ${row}</name></description>${rest(row)}</product>`,
    ),
  )
  expect(rules.name?.value).toBe('description.name')
  expect(rules.product_id?.value).toBe('code')
})

it('asks where all names are the same', async () => {
  const { open } = await guessText(tableOf({ name: five.map(() => 'szt.') }, 5))
  expect(open).toContainEqual(expect.stringMatching(/^fields\.name: "name" is the same/))
})

it('asks where an id repeats though the names differ', async () => {
  const { open } = await guessText(
    tableOf({ sku: ['A', 'A', 'B', 'C'], name: ['Red cup', 'Old lamp', 'Door', 'Mat'] }),
  )
  expect(open).toContainEqual(expect.stringMatching(/^fields\.product_id: rows with the same "sku".* names/))
})

it.each(['Cost per item', 'Wholesale amount', 'Margin'])('%s is no id', async (column) => {
  const amounts = ['3.10', '4.20', '5.30']
  const text = tableOf({ [column]: amounts, Handle: ['red-cup', 'old-lamp', 'mat'], sku: ['M', 'M', 'L'] })
  const { rules } = await guessText(text.replace('"sku"', '"option"'))
  expect(rules.product_id?.value).toBe('Handle')
})

it('asks where a flag and a quantity contradict each other', async () => {
  const flags = { product_is_available: ['true', 'true', 'false'], quantity: ['3', '0', '4'] }
  const { open } = await guessText(tableOf(flags))
  expect(open).toContainEqual(
    expect.stringMatching(/"product_is_available" and "quantity" contradict.* 2 of 3/),
  )
})

it.each([
  ['0', '1', '2', '3'],
  ['A', 'B', 'C', 'A'],
])('asks what codes of availability stand for', async (...codes) => {
  const { open } = await guessText(tableOf({ availability: codes }))
  expect(open.join('\n')).toMatch(/availability.*holds codes/)
})

it.each(['parent_sku', 'MasterProductNumber', 'item_group_id', 'model_id', 'variant_of'])(
  'asks whether rows of one %s are one product',
  async (column) => {
    const { open, rules } = await guessText(
      tableOf({ name: ['Cup red', 'Cup blue', 'Mat', 'Lamp'], [column]: ['P7', 'P7', 'P8', ''] }),
    )
    expect(rules.group ?? open.join('\n')).toEqual(expect.stringMatching(`rows with the same "${column}"`))
  },
)

it('asks whether what lists hold are categories or levels', async () => {
  const items = five.map((row) => ({
    sku: row,
    name: `The cup no. ${row} of all`,
    link: `https://c.example/${row}`,
    image: `https://c.example/${row}.jpg`,
    price: 5,
    category: ['Kitchen', 'Kitchen > Cups'],
  }))
  const { open } = await guessText(JSON.stringify(items))
  expect(open).toContainEqual(expect.stringMatching(/^fields\.categories: are the elements/))
})

it('asks where the main image is a small one', async () => {
  const image = five.map((row) => `https://c.example/thumbs/${row}.jpg`)
  const { open } = await guessText(tableOf({ image }))
  expect(open).toContainEqual(expect.stringMatching(/^fields\.image_url: .* small pictures/))
})

it('what was sold is no stock, and what it costs the shop no list price', async () => {
  const { open } = await guessText(
    tableOf({
      soldCount: ['3', '9'],
      inventorySold: ['1', '2'],
      cost_price: ['1', '2'],
      NetPrice: ['3', '4'],
    }),
  )
  expect(open.join('\n')).not.toMatch(/soldCount|inventorySold|list_price/)
})

it.each([
  ['ACTIVE_YN', 'Y', 'N'],
  ['active_flag', '1', '0'],
  ['is_active', 'ano', 'ne'],
  ['b_active', 'true', 'false'],
  ['IsVisible', 'ja', 'nein'],
  ['BLOCKED_FLAG', 'N', 'Y'],
])('%s hides what it says is hidden', async (column, shown, hidden) => {
  const { products } = await guessText(tableOf({ stock: ['3', '4'], [column]: [shown, hidden] }))
  expect(products.map((product) => product?.availability)).toEqual(['InStock', 'Invisible'])
})

it('codes of categories are not sent, and asked about', async () => {
  const { products, open } = await guessText(tableOf({ category_id: ['MLA1234', 'MLA1235', 'MLA77'] }))
  expect(products[0]).not.toHaveProperty('categories')
  expect(open).toContainEqual(expect.stringMatching(/^fields\.categories: .*"category_id" may hold it/))
})

it('the gross price wins, whatever number stands behind it', async () => {
  const prices = { NetPrice1: ['10.00', '20.00'], GrossPrice1: ['12.00', '24.00'] }
  const { rules } = await guessText(tableOf(prices).replace('"price"', '"rank"'))
  expect(rules.price?.value).toBe('GrossPrice1')
})

it.each(['PriceWithoutVAT', 'p_priceNoTax'])('%s has no tax in it, and is asked about', async (column) => {
  const { rules } = await guessText(tableOf({ [column]: ['10.00', '20.00'] }).replace('"price"', '"rank"'))
  expect(rules.price).toMatchObject({ open: true, comment: expect.stringMatching(/tax is not in it/) })
})

it('reads names with a language and a prefix, or with two additions', async () => {
  const text = tableOf({ NormalPriceWithVAT: ['15.00', '25.00'], 'p_name.de': ['Rote Tasse', 'Alte Lampe'] })
  const { rules } = await guessText(text.replace('"price"', '"rank"').replace('"name"', '"x"'))
  expect(rules.price?.value).toBe('NormalPriceWithVAT')
  expect(rules.name?.value).toBe('p_name.de')
})

it('products that merely share a number are not merged', async () => {
  const { rules } = await guessText(
    tableOf({ sku: ['A', 'A', 'B', 'C'], name: ['Red cup', 'Old lamp', 'Door', 'Mat'] }),
  )
  expect(rules).not.toHaveProperty('group')
})

it('asks where most products are not for sale', () => {
  const products = ['OutOfStock', 'OutOfStock', 'Invisible', 'InStock'].map((availability) => ({
    availability,
  }))
  expect(fewForSale(products)).toEqual([expect.stringMatching(/^fields\.availability: 3 of the first 4/)])
  expect(fewForSale(products.slice(2).concat(products.slice(2), products.slice(3)))).toEqual([])
})
