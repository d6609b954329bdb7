import { expect, it } from 'vitest'
import { guessText } from './guess-support.ts'

const image = (name: string) => `https://c.example/${name}.jpg`
const page = (name: string) => `https://c.example/${name}`

/** A table of comma-separated lines. */
function text(...lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

it('rows that name their product by its number: the row of the product is not sold itself', async () => {
  const { products, rules, open } = await guessText(
    text(
      'key,belongs,code,name,url,image,price,stock,active,size',
      `4901,,CUP,Cup,${page('cup')},${image('cup')},0,9,1,`,
      '4902,4901,CUP-L,,,,12.50,0,1,L',
      '4903,4901,CUP-S,,,,9.50,4,1,S',
      '4904,4901,CUP-X,,,,8.50,7,0,X',
      `4905,,MUG,Mug,${page('mug')},${image('mug')},7.00,3,1,`,
      `4906,,OLD,Old jug,${page('jug')},${image('jug')},0,0,0,`,
      '4907,4906,OLD-S,,,,5.00,8,1,S',
    ),
    { currency: 'EUR' },
  )
  expect(rules.group).toMatchObject({ value: { parent: 'belongs', names: ['key'] } })
  expect(products).toMatchObject([
    {
      product_id: 'CUP',
      name: 'Cup',
      availability: 'InStock',
      inventory_level: 11,
      skus: [
        { id: 'CUP-L', price: 12.5, availability: 'OutOfStock', inventory_level: 0 },
        { id: 'CUP-S', price: 9.5, availability: 'InStock', inventory_level: 4 },
        { id: 'CUP-X', availability: 'Invisible' },
      ],
    },
    { product_id: 'MUG', price: 7, availability: 'InStock', inventory_level: 3 },
    { product_id: 'OLD', price: 5, availability: 'Invisible' },
  ])
  expect(products[1]).not.toHaveProperty('skus')
  expect(open.join('\n')).not.toMatch(/"active" is not looked at/)
})

it('takes products that are related for products of their own', async () => {
  const { products, rules } = await guessText(
    text(
      'code,goes with,name,url,image,price',
      `AX-1,AX-3,Cup,${page('1')},${image('1')},9.00`,
      `AX-2,,Saucer,${page('2')},${image('2')},4.00`,
      `AX-3,,Spoon,${page('3')},${image('3')},2.00`,
    ),
  )
  expect(rules).not.toHaveProperty('group')
  expect(products).toHaveLength(3)
})

it('rows that name one of them, and that one itself, are all sold', async () => {
  const { products } = await guessText(
    text(
      'ordernumber,mainnumber,name,url,image,price,stock,size',
      `S1,S1,Shirt,${page('s')},${image('s1')},20.00,0,S`,
      `S2,S1,Shirt,${page('s')},${image('s2')},18.00,2,M`,
      `T1,T1,Tie,${page('t')},${image('t')},15.00,1,`,
    ),
  )
  expect(products).toMatchObject([
    {
      product_id: 'S1',
      price: 18,
      inventory_level: 2,
      skus: [
        { id: 'S1', price: 20, availability: 'OutOfStock' },
        { id: 'S2', price: 18, availability: 'InStock' },
      ],
    },
    { product_id: 'T1', price: 15 },
  ])
})

it('rows of several kinds belong to the product above them', async () => {
  const { products, rules } = await guessText(
    text(
      'Item,ID,Name,SKU,Price,Current Stock,Image,Product URL',
      `Product,11,Pan,PAN,40.00,0,${image('pan')},${page('pan')}`,
      'Variant,71,,PAN-24,44.00,2,,',
      'Variant,72,,PAN-20,39.00,5,,',
      `Product,12,Lid,LID,9.00,8,${image('lid')},${page('lid')}`,
    ),
  )
  expect(rules.group).toMatchObject({ value: { above: { Item: ['Variant'] } } })
  expect(products).toMatchObject([
    {
      product_id: '11',
      price: 39,
      inventory_level: 7,
      skus: [
        { id: 'PAN-24', price: 44 },
        { id: 'PAN-20', price: 39 },
      ],
    },
    { product_id: '12', price: 9, inventory_level: 8 },
  ])
})

it('rows without a name that repeat the address of their product are its variants, however many', async () => {
  const variants = Array.from({ length: 9 }, (_, index) => `camisa-oxford,,,,${30 + index}.00,1,CX-${index}`)
  const { products, rules } = await guessText(
    text(
      'Identificador de URL,Nombre,Imagen,Categorías,Precio,Stock,SKU',
      `camisa-oxford,Camisa Oxford,${image('c')},Ropa,29.00,0,CX`,
      ...variants,
      `gorro,Gorro,${image('g')},Ropa,12.00,3,GO`,
    ),
    { shopUrl: 'https://shop.example' },
  )
  expect(rules.group).toMatchObject({ value: true })
  expect(products).toMatchObject([
    { product_id: 'camisa-oxford', price: 29, inventory_level: 9 },
    { product_id: 'gorro', price: 12, inventory_level: 3 },
  ])
  expect(products[0]?.skus).toHaveLength(10)
})
