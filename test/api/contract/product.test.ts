import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  availabilityWarning,
  describeProblem,
  fieldKinds,
  fieldSchemas,
  isCertainlyValid,
  knownAvailabilities,
  type ProductField,
  productFields,
  productSchema,
  requiredFields,
  sensitiveFields,
} from '../../../src/api/contract/product.ts'
import { arbitraryProduct, brokenValues } from './arbitrary-products.ts'

/** What is wrong with one product, one line each, as sandbox and daemon say it. */
function productProblems(product: unknown): { field: string; message: string }[] {
  const result = productSchema.safeParse(product, { reportInput: true })
  return (result.error?.issues ?? []).map((issue) => {
    const first = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys][0] : issue.path[0]
    return { field: first === undefined ? 'product' : String(first), message: describeProblem(issue) }
  })
}

const plain = {
  product_id: '1',
  name: 'Pan',
  url: 'https://shop.example/pan',
  image_url: 'https://shop.example/pan.jpg',
  availability: 'InStock',
  price: 12.5,
  price_currency_code: 'EUR',
}

const brokenField = fc
  .constantFrom(...productFields)
  .chain((field) =>
    fc.constantFrom(...brokenValues[field]).map((value): [ProductField, unknown] => [field, value]),
  )

describe('a product', () => {
  it('is accepted, unchanged, whatever the contract allows it to hold', () => {
    fc.assert(
      fc.property(arbitraryProduct, (product) => {
        const sent = JSON.parse(JSON.stringify(product))
        expect(productProblems(sent)).toEqual([])
        expect(productSchema.parse(sent)).toEqual(sent)
        for (const field of productFields) {
          if (field in sent) expect(fieldSchemas[field].safeParse(sent[field]).success).toBe(true)
        }
      }),
    )
  })

  it('with one broken field is refused by a message that begins with this field and no other', () => {
    fc.assert(
      fc.property(arbitraryProduct, brokenField, (product, [field, value]) => {
        const problems = productProblems({ ...product, [field]: value })
        expect(new Set(problems.map((problem) => problem.field))).toEqual(new Set([field]))
        for (const { message } of problems) expect(message.startsWith(field)).toBe(true)
        expect(fieldSchemas[field].safeParse(value).success).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  it.each(requiredFields)('without %s is refused by a message that says so', (field) => {
    const { [field]: _, ...rest } = plain
    expect(productProblems(rest)).toEqual([
      {
        field,
        message: expect.stringMatching(new RegExp(`^${field}: found nothing, expected .*; give it a value$`)),
      },
    ])
  })

  it.each(['gtin', 'List_Price', '__proto__', 'constructor'])(
    'with the unknown field %s is refused',
    (name) => {
      const product = JSON.parse(`{"${name}":"x",${JSON.stringify(plain).slice(1)}`)
      expect(productProblems(product)).toEqual([
        { field: name, message: expect.stringContaining(`${name}: found a field`) },
      ])
    },
  )

  it('with unknown fields inside variations and SKUs is refused', () => {
    const product = { ...plain, variations: { EU: { name: 'x' } }, skus: [{ id: '1', brand: 'x' }] }
    expect(productProblems(product).map(({ message }) => message.split(':')[0])).toEqual([
      'variations.EU.name',
      'skus[0].brand',
    ])
  })

  it.each(['custom_fields', 'variations'] as const)(
    'with a key __proto__ in %s is refused, not emptied',
    (field) => {
      const value = JSON.parse(field === 'variations' ? '{"__proto__":{}}' : '{"__proto__":"x"}')
      expect(productProblems({ ...plain, [field]: value })).toEqual([
        {
          field,
          message: `${field}.__proto__: found a reserved name, expected an ordinary key; rename the key`,
        },
      ])
    },
  )

  it('keeps custom fields that are called like members of an object', () => {
    const custom = { constructor: 'a', toString: 'b', hasOwnProperty: 'c' }
    expect(productProblems({ ...plain, custom_fields: custom })).toEqual([])
  })

  it('that is no object is refused as a whole', () => {
    for (const value of [null, 3, 'x', [plain]]) {
      expect(productProblems(value)).toEqual([
        { field: 'product', message: expect.stringMatching(/^product: found /) },
      ])
    }
  })

  it('has numbers that JSON can carry', () => {
    for (const price of [Number.NaN, Number.POSITIVE_INFINITY, JSON.parse('1e400')]) {
      expect(productProblems({ ...plain, price })[0]?.field).toBe('price')
    }
  })
})

describe('the list of fields', () => {
  it('is complete and in the order of the contract', () => {
    expect(productFields).toHaveLength(26)
    expect(productFields.slice(0, 7)).toEqual(requiredFields)
    expect(productFields.slice(-3)).toEqual(['supplier_cost', 'custom_fields', 'skus'])
    expect(Object.keys(fieldKinds)).toEqual(productFields)
    expect(Object.keys(fieldSchemas)).toEqual(productFields)
  })
})

describe('a description of a problem', () => {
  it('names the field, what was found, what is expected and what to do', () => {
    expect(productProblems({ ...plain, price: '12,50' })[0]?.message).toBe(
      'price: found the text "12,50", expected a number; give the digits with a point as decimal mark and no currency',
    )
    expect(productProblems({ ...plain, categories: ['Home/Pans', 'Home > Pans'] })[0]?.message).toBe(
      'categories[1]: found the text "Home > Pans", expected a category path with slashes such as "Home/Kitchen"; ' +
        'separate the levels by one slash each, leave none empty and use no other separator',
    )
    expect(productProblems({ ...plain, skus: [{}, { inventory_level: 1.5 }] })[0]?.message).toMatch(
      /^skus\[1\]\.inventory_level: found the number 1\.5, expected a whole number; /,
    )
  })

  it('of a single value names the field it was checked for, and does without the value', () => {
    const checked = fieldSchemas.price.safeParse('x')
    expect(checked.success).toBe(false)
    const [issue] = checked.error?.issues ?? []
    if (issue === undefined) throw new Error('the value was accepted')
    expect(describeProblem(issue, 'price')).toMatch(/^price: expected a number; /)
  })

  it('never shows what a supplier is paid', () => {
    expect(sensitiveFields).toEqual(['supplier_cost'])
    fc.assert(
      fc.property(fc.constantFrom('4711,08', ['4711,08'], { cost: '4711,08' }), (supplier_cost) => {
        const problems = productProblems({ ...plain, supplier_cost, variations: { EU: { supplier_cost } } })
        expect(problems.length).toBeGreaterThan(0)
        expect(JSON.stringify(problems)).not.toContain('4711')
      }),
    )
  })

  it('stays on one line and short', () => {
    const name = `${'long '.repeat(1000)}\n`
    const [problem] = productProblems({ ...plain, date_published: name, custom_fields: { [name]: 3 } })
    expect(problem?.message.length).toBeLessThan(250)
    expect(problem?.message).not.toContain('\n')
  })
})

describe('an availability', () => {
  it('that the service is not known to understand is warned about, and valid', () => {
    expect(knownAvailabilities.map(availabilityWarning)).toEqual([undefined, undefined, undefined, undefined])
    expect(availabilityWarning('in stock')).toMatch(
      /^availability: the text "in stock" is none of the known words InStock/,
    )
    expect(productProblems({ ...plain, availability: 'in stock' })).toEqual([])
  })
})

describe('a value that is certain at a glance', () => {
  it('is one that the schema takes, and most valid values are', () => {
    fc.assert(
      fc.property(
        arbitraryProduct,
        fc.constantFrom(...productFields),
        fc.anything(),
        (product, field, other) => {
          const broken = fc.sample(fc.constantFrom(...brokenValues[field]), 3)
          for (const value of [product[field], other, ...broken, broken]) {
            if (isCertainlyValid(field, value))
              expect(fieldSchemas[field].safeParse(value).success).toBe(true)
          }
        },
      ),
      { numRuns: 2_000 },
    )
    const [product] = fc.sample(arbitraryProduct, 1)
    const certain = ['product_id', 'url', 'price'] as const
    for (const field of certain) expect(isCertainlyValid(field, product?.[field])).toBe(true)
    expect(isCertainlyValid('categories', ['Home/Pans', 'Garden'])).toBe(true)
    expect(isCertainlyValid('alternate_image_urls', ['https://shop.example/1.jpg'])).toBe(true)
  })
})
