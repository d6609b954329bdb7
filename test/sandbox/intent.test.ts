import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recommendationSchema } from '../../src/api/contract/intent.ts'
import { product } from './harness.ts'
import { intentCatalogue } from './intent-catalogue.ts'
import { type IntentSandbox, openIntentSandbox, recommendations } from './intent-client.ts'

let sandbox: IntentSandbox
let conversations = 0

beforeAll(async () => {
  sandbox = await openIntentSandbox()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

/** Nobody who was here before. */
const stranger = () => {
  conversations += 1
  return { customerId: `stranger-${conversations}`, chatId: `chat-${conversations}` }
}

describe('a prompt', () => {
  it.each([
    ['running shoes under 100 euro', ['SH01', 'SH02', 'SH04']],
    ['red running shoes', ['SH01', 'SH05', 'SH02']],
    ['waterproof jacket for women', ['JA02', 'JA04', 'JA01']],
    ['table lamp', ['LA02', 'LA03', 'LA04']],
    ['a lamp below €30', ['LA06', 'LA07']],
    ['cheapest espresso machine', ['CO02', 'CO01', 'CO03']],
    ['gift for coffee lovers between 20 and 40 euro', ['CO08', 'CO07']],
    ['backpack, but no leather', ['BA01', 'BA04', 'BA03']],
    ['sneakers without leather', ['SH09', 'SH10']],
    ['anything on sale under 50', ['TE02', 'PH02', 'TO02']],
    ['best rated headphones in stock', ['HE04', 'HE01', 'HE02']],
    ['I need a gift for a child, at least 4.5 stars', ['TO01', 'TO02', 'TO04']],
    ['Nordpack backpacks', ['BA01', 'BA03', 'BA02']],
    ['cofee grindr', ['CO05', 'CO06']],
    ['bike at least 2.000 €', ['BI02']],
    ['running shoes not Kestrel', ['SH01', 'SH02', 'SH05']],
    ['Rucksack unter 100 €', ['BA01', 'BA03', 'BA06']],
    ['knives at least 30% off', ['KN03']],
    ['not too expensive frying pan available now', ['PA03', 'PA01', 'PA02']],
    ['out of stock lamps', ['LA03', 'LA08']],
    ['best backpack for hiking', ['BA02', 'BA04', 'BA06']],
    ['vegan face cream no perfume', ['SK01']],
    ['SH03', ['SH03']],
    ['Creme Belle', ['SK03']],
    ['most expensive bike', ['BI02', 'BI01', 'TO03']],
  ])('%s', async (prompt, ids) => {
    expect(await sandbox.idsFor(prompt, stranger())).toEqual(ids)
  })

  it('that is the name of a product finds it first, whatever else the name may mean', async () => {
    const names = ['No Nonsense Socks', '5 Star Towel, 70 % cotton', 'Under 10 Watt Night Lamp', 'Sale Sign']
    await using odd = await openIntentSandbox([
      ...names.map((name, at) => product(`odd-${at}`, { name, brand: 'Oddity', availability: 'OutOfStock' })),
      ...intentCatalogue,
    ])
    const twins = ['LA02', 'LA03']
    const named = [
      ...names.map((name, at) => ({ id: `odd-${at}`, name, brand: 'Oddity' })),
      ...intentCatalogue.map(({ product_id: id, name, brand }) => ({ id, name, brand })),
    ].filter(({ id }) => !twins.includes(String(id)))
    const wrong: unknown[] = []
    for (const { id, name, brand } of named) {
      for (const prompt of [id, name, `${name} ${brand}`, `${name} by ${brand}`]) {
        const [first] = await odd.idsFor(String(prompt), stranger())
        if (first !== id) wrong.push({ prompt, first })
      }
    }
    expect(wrong).toEqual([])
  })

  it('that nothing fits is answered with an empty list that says so', async () => {
    const answer = await sandbox.ask('a unicorn', { ...stranger(), giveAgentContext: true })
    expect(answer.agentProductRecommendations).toEqual([])
    expect(answer.agentInsight).toContain('No product')
    expect(answer.agentContext).toContain('No product has: unicorn')
  })

  it('says in its context what was understood', async () => {
    const { agentContext } = await sandbox.ask('red cofee machine under 250 euro in stock, no pods', {
      ...stranger(),
      giveAgentContext: true,
    })
    for (const part of ['below €250.00', 'In stock', 'Without pods', '"cofee" as "coffee"']) {
      expect(agentContext).toContain(part)
    }
    expect(await sandbox.ask('lamp', stranger())).not.toHaveProperty('agentContext')
  })
})

describe('follow-ups', () => {
  const talk = async (...prompts: string[]) => {
    const who = stranger()
    const answers: string[][] = []
    for (const prompt of prompts) answers.push(await sandbox.idsFor(prompt, who))
    return answers
  }

  it('narrow the answer before, word by word', async () => {
    expect(await talk('running shoes', 'only the red ones', 'under 60')).toEqual([
      ['SH01', 'SH02', 'SH03'],
      ['SH01', 'SH05'],
      ['SH05'],
    ])
  })

  it('go on without what was shown', async () => {
    const [first = [], more = [], rest = []] = await talk('running shoes', 'show me more', 'more please')
    expect(first).toEqual(['SH01', 'SH02', 'SH03'])
    expect(more).toEqual(['SH04', 'SH05', 'SH06'])
    expect(rest).toEqual(['SH07'])
  })

  it('find what is cheaper than the answer', async () => {
    const [, cheaper = []] = await talk('espresso machine', 'cheaper')
    expect(cheaper).toEqual(['CO03'])
    const [, lower = []] = await talk('lamp in stock', 'something cheaper')
    expect(lower).toEqual(['LA06', 'LA07', 'LA02'])
  })

  it('replace a colour, a brand, and what was added last', async () => {
    expect(await talk('blue running shoes', 'in green instead')).toEqual([['SH02', 'SH07', 'SH01'], ['SH03']])
    expect(await talk('Nordpack backpack', 'how about Fjordlund')).toEqual([
      ['BA01', 'BA03', 'BA02'],
      ['BA04'],
    ])
    expect(await talk('sneakers', 'in white', 'not leather')).toEqual([
      ['SH09', 'SH10', 'SH08'],
      ['SH09', 'SH08'],
      ['SH09'],
    ])
  })

  it('about another kind of product begin anew', async () => {
    expect(await talk('red running shoes under 60', 'what about backpacks?')).toEqual([
      ['SH05', 'SH07'],
      ['BA01', 'BA04', 'BA03'],
    ])
    expect(await talk('running shoes', 'anything under 13')).toEqual([['SH01', 'SH02', 'SH03'], ['NO01']])
  })

  it('that leave nothing are answered so, and change nothing', async () => {
    expect(await talk('sneakers', 'only the purple ones', 'under 60')).toEqual([
      ['SH09', 'SH10', 'SH08'],
      [],
      ['SH10'],
    ])
  })

  it('belong to one conversation of one shopper', async () => {
    const who = stranger()
    await sandbox.idsFor('table lamp', who)
    const elsewhere = { ...stranger(), chatId: who.chatId }
    expect(await sandbox.idsFor('under 20', elsewhere)).toEqual(['SO01', 'NO01', 'SK02'])
    expect(await sandbox.idsFor('under 40', who)).toEqual(['LA02', 'LA03', 'LA06'])
  })
})

describe('the history of a shopper', () => {
  it('prefers brands that were asked for before, mildly', async () => {
    const { customerId } = stranger()
    const before = await sandbox.idsFor('rain jacket kids', { customerId, chatId: 'a' })
    const plain = await sandbox.idsFor('running socks', { customerId, chatId: 'b' })
    expect(plain).toEqual(['SO02', 'SO01'])
    for (const chatId of ['c', 'd', 'e', 'f']) await sandbox.idsFor('Aurel running', { customerId, chatId })
    expect(await sandbox.idsFor('running socks', { customerId, chatId: 'g' })).toEqual(['SO01', 'SO02'])
    expect(await sandbox.idsFor('rain jacket kids', { customerId, chatId: 'h' })).toEqual(before)
  })
})

describe('the products of an answer', () => {
  it('are as many as are wanted, three if nothing is said', async () => {
    const count = async (max?: number | null) =>
      (
        await sandbox.idsFor('under 1000', {
          ...stranger(),
          ...(max !== undefined && { maxAgentRecommendations: max }),
        })
      ).length
    expect([await count(), await count(null), await count(1), await count(20)]).toEqual([3, 3, 1, 20])
  })

  it('have all fields of the contract, and no other', async () => {
    const [first] = recommendations(await sandbox.ask('LA07', stranger()))
    expect(first).toEqual({
      productId: 'LA07',
      name: 'Brightwell Solar Garden Lamp',
      url: 'https://shop.example/p/la07',
      description: 'Charges by day, lights the path by night.',
      imageUrl: 'https://shop.example/i/la07.jpg',
      brand: 'Brightwell',
      availability: 'InStock',
      currencyCode: 'EUR',
      priceCurrencyCode: 'EUR',
      price: 24.9,
      listPrice: 34.9,
      ratingValue: 3.8,
      reviewCount: 90,
      inventoryLevel: 33,
      isExcluded: false,
      onDiscount: true,
      skus: [
        {
          id: 'LA07-1',
          name: 'Brightwell Solar Garden Lamp standard',
          availability: 'InStock',
          inventoryLevel: 33,
        },
      ],
    })
    expect(recommendationSchema.strict().safeParse(first).success).toBe(true)
  })

  it('have null for what is not known', async () => {
    await using bare = await openIntentSandbox([product('bare')])
    const [first] = recommendations(await bare.ask('pan bare'))
    expect(first).toMatchObject({
      description: null,
      brand: null,
      listPrice: null,
      ratingValue: null,
      reviewCount: null,
      inventoryLevel: null,
      isExcluded: false,
      onDiscount: false,
      skus: null,
    })
  })

  it('never show what a product costs its merchant, nor are found by it', async () => {
    const secret = 431.77
    await using costly = await openIntentSandbox([
      product('a', {
        supplier_cost: secret,
        custom_fields: { supplier_cost: `cost ${secret}`, supplierCost: 'wholesale', material: 'oak' },
        skus: [{ id: 'a-1', name: 'A', custom_fields: { supplier_cost: String(secret) } }],
      }),
    ])
    for (const prompt of ['431.77', 'wholesale', 'supplier_cost']) {
      expect(await costly.idsFor(prompt, stranger())).toEqual([])
    }
    const found = await costly.post(
      JSON.stringify({
        prompt: 'oak pan',
        ...stranger(),
        partnerId: 'p',
        giveAgentContext: true,
        responseFormat: 'markdown',
      }),
    )
    expect(JSON.parse(found.text).agentProductRecommendations).toHaveLength(1)
    expect(found.text).not.toMatch(/supplier|431|wholesale/i)
  })

  it('that score the same come in stock first, then by id', async () => {
    const twin = (id: string, availability: string) => product(id, { name: 'Copper kettle', availability })
    await using twins = await openIntentSandbox([
      twin('a', 'OutOfStock'),
      twin('d', 'InStock'),
      twin('b', 'OutOfStock'),
      twin('c', 'InStock'),
    ])
    const all = { maxAgentRecommendations: 20 }
    expect(await twins.idsFor('copper kettle', { ...stranger(), ...all })).toEqual(['c', 'd', 'a', 'b'])
    expect(await twins.idsFor('anything', { ...stranger(), ...all })).toEqual(['c', 'd', 'a', 'b'])
  })

  it('are found by tags and custom fields that were sent as numbers', async () => {
    await using numbered = await openIntentSandbox([
      product('a', { tag1: [4711] }),
      product('b', { custom_fields: { season: 2031 } }),
      product('c'),
    ])
    expect(await numbered.idsFor('4711', stranger())).toEqual(['a'])
    expect(await numbered.idsFor('2031', stranger())).toEqual(['b'])
  })

  it('are never invisible or discontinued, and excluded ones only when they are named', async () => {
    await using hidden = await openIntentSandbox([
      product('seen', { name: 'Green vase' }),
      product('invisible', { name: 'Green vase', availability: 'Invisible' }),
      product('gone', { name: 'Green vase', availability: 'Discontinued' }),
      product('excluded', { name: 'Green secret vase', custom_fields: { excluded: 'true' } }),
    ])
    expect(await hidden.idsFor('green vase', stranger())).toEqual(['seen'])
    const [named] = recommendations(await hidden.ask('green secret vase', stranger()))
    expect(named).toMatchObject({ productId: 'excluded', isExcluded: true })
  })

  it('follow what is upserted, changed and cleared', async () => {
    await using changing = await openIntentSandbox([product('a', { name: 'Blue bowl' })])
    const find = (prompt: string) => changing.idsFor(prompt, stranger())
    expect(await find('blue bowl')).toEqual(['a'])
    await changing.upsert([product('a', { name: 'Blue bowl', price: 99 })])
    expect(await find('blue bowl under 50')).toEqual([])
    await changing.upsert([product('a', { name: 'Yellow jug' }), product('b', { name: 'Blue cup' })])
    expect(await find('bowl')).toEqual([])
    expect(await find('blue')).toEqual(['b'])
    await changing.send('DELETE', '/sandbox/products')
    expect(await find('blue')).toEqual([])
  })
})

describe('the answer in words', () => {
  it('is a sentence about the products, in the numbers of the locale', async () => {
    const ask = (more: object) =>
      sandbox.ask('cast iron pan', { ...stranger(), maxAgentRecommendations: 1, ...more })
    expect((await ask({})).agentInsight).toContain('Gusseisen Cast Iron Pan 28 cm (€69.00, rated 4.8)')
    expect((await ask({ locale: 'de', country: 'DE' })).agentInsight).toMatch(/69,00\s€/)
  })

  it('is Markdown on request, whatever stands in the names', async () => {
    await using odd = await openIntentSandbox([product('x', { name: '[Pan](javascript:1) *bold* <b>' })])
    const { agentInsight } = await odd.ask('pan', { responseFormat: 'Markdown' })
    expect(agentInsight).toContain(
      '1. **[\\[Pan\\]\\(javascript:1\\) \\*bold\\* \\<b\\>](<https://shop.example/p/x>)**',
    )
  })

  it('is empty when only the ranking is wanted', async () => {
    const answer = await sandbox.ask('lamp', { ...stranger(), rankingOnly: true, giveAgentContext: true })
    expect(answer.agentInsight).toBe('')
    expect(answer.agentContext).not.toBe('')
    expect(recommendations(answer)).toHaveLength(3)
  })
})
