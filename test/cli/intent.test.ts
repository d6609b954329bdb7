import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStackSite, type StackSite } from './stack-site.ts'
import { runCli } from './support.ts'

const rows = `product_id,name,url,image_url,availability,price,price_currency_code,brand,supplier_cost,rating_value
P1,Induction Pan,https://shop.example/1,https://shop.example/1.jpg,InStock,20,EUR,Acme,7.77,4.50
P2,Soup Pot,https://shop.example/2,https://shop.example/2.jpg,InStock,30,EUR,Acme,7.77,
P3,Knife Set,https://shop.example/3,https://shop.example/3.jpg,Discontinued,40,EUR,,7.77,
`

let site: StackSite
const run = (...argv: string[]) => runCli([...argv, '--config', site.config])
const runJson = async (...argv: string[]) => JSON.parse((await run(...argv, '--json')).stdout) as Answer

interface Answer {
  chatId: string
  agentInsight: string
  agentProductRecommendations: { productId: string }[]
}

beforeAll(async () => {
  site = await openStackSite()
})
afterAll(() => site[Symbol.asyncDispose]())

/** Past the daemon: what the service has differs from what the feeds say. */
async function upsert(product: object): Promise<void> {
  const { url, tokens } = site.sandbox
  const { status } = await fetch(`${url}/v1/products/upsert`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`:${tokens.products}`)}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify([product]),
  })
  if (status !== 200) throw new Error(`the upsert was answered ${status}`)
}

describe('verify', () => {
  it('knows no product where nothing was ever imported, and starts no Redis for that', async () => {
    const { exitCode, stdout } = await run('verify', 'P1')
    expect([exitCode, stdout]).toEqual([1, 'P1: unknown here: no feed has named it\n'])
  })

  it('tells what matches, what differs in which field, and what is not returned', {
    timeout: 300_000,
  }, async () => {
    const feed = site.folder.join('feed.csv')
    await writeFile(feed, rows)
    expect((await run('load', 'products', feed)).exitCode).toBe(0)
    expect(await run('verify', 'P1', 'P2', 'P2')).toMatchObject({
      exitCode: 0,
      stdout: 'P1: matches\nP2: matches\n2 products: 2 as here.\n',
    })
    await upsert({
      product_id: 'P2',
      name: 'Soup Pot',
      url: 'https://shop.example/2',
      image_url: 'https://shop.example/2.jpg',
      availability: 'OutOfStock',
      price: 29,
      price_currency_code: 'EUR',
      brand: 'Acme',
      supplier_cost: 1,
    })
    const { exitCode, stdout } = await run('verify', 'P1', 'P2', 'P3', 'P4')
    expect(exitCode).toBe(1)
    expect(stdout.split('\n')).toEqual([
      'P1: matches',
      'P2: differs in availability, price',
      '    availability: "InStock" → "OutOfStock"',
      '    price: 30 → 29',
      expect.stringMatching(
        /^P3: not returned among \d products? for "Knife Set"; its availability is Discontinued$/,
      ),
      'P4: unknown here: no feed has named it',
      '4 products: 1 as here.',
      '',
    ])
    expect(stdout).not.toContain('7.77')
    const lines = (await run('verify', 'P2', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      {
        productId: 'P2',
        outcome: 'differs',
        pending: false,
        differences: [{ field: 'availability' }, { field: 'price' }],
      },
      { summary: { products: 1, differs: 1 } },
    ])
  })
})

describe('intent', () => {
  it('prints the ranking, the insight and a conversation to follow up in', async () => {
    const { exitCode, stdout } = await run(
      'intent',
      'something of acme',
      '--customer',
      'c1',
      '--context',
      '--max',
      '5',
    )
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(
      /^rank {2}product {2}name .*\n +1 {2}P1 +Induction Pan +Acme +20 EUR +InStock\n +2 {2}P2 /,
    )
    expect(stdout).toContain('\n\nWhy: ')
    const [, chat = ''] = /Conversation: (\S+)/.exec(stdout) ?? []
    expect(chat).toMatch(/^[0-9a-f-]{36}$/)
    const next = await runJson('intent', 'the pan', '--customer', 'c1', '--chat', chat, '--ranking-only')
    expect(next).toMatchObject({ chatId: chat, agentInsight: '' })
    expect(next.agentProductRecommendations.map(({ productId }) => productId)).toEqual(['P1'])
  })

  it('passes on how many and in which format', async () => {
    const answer = await runJson('intent', 'acme', '--customer', 'c2', '--max', '1', '--format', 'markdown')
    expect(answer.agentProductRecommendations).toHaveLength(1)
    expect(answer.agentInsight).toContain('**')
  })

  it.each([
    [['intent', 'x'], 2, '--customer is missing'],
    [['intent', 'x', '--customer', 'c', '--max', '21'], 2, 'Expected a whole number from 1 to 20'],
    [['intent', 'x', '--customer', 'c', '--format', 'html'], 2, 'text, markdown'],
    [['intent', 'x', '--customer', 'c', '--country', 'XX'], 1, 'country: found the text "XX"'],
  ])('%j ends with %d', async (argv, code, message) => {
    const { exitCode, stderr } = await run(...argv)
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)])
  })

  it('names the variable that is not set, and lets --partner stand in', async () => {
    const { url } = site.sandbox
    const config = site.folder.join('intent.yaml')
    await writeFile(
      config,
      `catalogs: { main: { api: { url: "${url}", productsToken: x }, feeds: { f: { drop: ./d, files: "*.csv", mode: full } } } }
intent: { url: "${url}", token: "\${API_LIM_TOKEN:-}", partnerId: "\${PARTNER}", shopify: true }
`,
    )
    const ask = ['intent', 'pan', '--customer', 'c', '--config', config]
    const partner = await runCli(ask)
    expect(partner.exitCode).toBe(2)
    expect(partner.stderr).toContain(`${config}:2:`)
    expect(partner.stderr).toContain('PARTNER is not set')
    expect(partner.stderr).toContain('or give --partner')
    const token = await runCli([...ask, '--partner', 'p'])
    expect(token).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Set API_LIM_TOKEN') })
    const wrong = await runCli([...ask, '--partner', 'p', '--country', 'DE', '--locale', 'de'], {
      env: { API_LIM_TOKEN: site.sandbox.tokens.products },
    })
    expect(wrong.exitCode).toBe(3)
    expect(wrong.stderr).toContain('API_LIM')
    expect(wrong.stderr).not.toContain(site.sandbox.tokens.products)
    const shopify = await runCli([...ask, '--partner', 'p'], {
      env: { API_LIM_TOKEN: site.sandbox.tokens.intent },
    })
    expect(shopify).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('country') })
  })
})
