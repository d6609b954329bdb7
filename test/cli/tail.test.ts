import { expect, test } from 'vitest'
import type { FollowedCall } from '../../src/operations/follow-calls.ts'
import { productsToken, Workplace } from '../acceptance/daemon.ts'
import { runCli } from './support.ts'

const catalog = `deferred: { after: 0s, atMost: 1s }
feeds:
  shop: { drop: ./drop/shop, settle: 0s, mode: delta }
`
const content = (...rows: [id: string, price: number][]) =>
  [
    'product_id,name,url,image_url,availability,price,price_currency_code',
    ...rows.map(
      ([id, price]) => `${id},Lamp,https://shop.example/p,https://shop.example/i.jpg,InStock,${price},EUR`,
    ),
  ].join('\n')

test('tail follows calls with what changed, by lane and product, and ends when it is told to', {
  timeout: 300_000,
}, async () => {
  await using workplace = await Workplace.open(catalog)
  await workplace.start()
  await workplace.drop('shop', 'one.csv', content(['a', 10], ['b', 10]))
  await workplace.untilTaken('a', 1)
  await workplace.untilTaken('b', 1)
  const follow = async (
    argv: readonly string[],
    during: () => Promise<void>,
    until: (text: string) => boolean,
  ) => {
    const stop = new AbortController()
    const said = { text: '' }
    const running = runCli(['tail', ...argv, '--config', workplace.path('catalogd.yaml')], {
      env: { CATALOG_API_URL: workplace.sandbox.url, API_PRODUCTS_TOKEN: productsToken },
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(240_000)]),
      onOutput: (text) => {
        said.text += text
        if (until(said.text)) stop.abort()
      },
    })
    await during()
    return await running
  }
  const change = () => workplace.drop('shop', 'two.csv', content(['a', 9], ['b', 10]))
  const shown = await follow(['--lane', 'urgent'], change, (text) => text.includes('→'))
  expect(shown).toMatchObject({ exitCode: 0, stderr: '' })
  expect(shown.stdout).toMatch(
    /^\S+ {2}main {2}200 {2}1 product \(1 urgent\) {2}0\.0 MB {2}\d+ ms\n {4}a {2}urgent {2}price 10 → 9\n$/,
  )

  const all = await follow(
    ['--json', '--product', 'b'],
    async () => undefined,
    (text) => text.includes('\n'),
  )
  const calls = all.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as FollowedCall)
  // The second file changed nothing of it.
  expect(calls.map(({ lanes, status }) => [lanes?.new, status])).toEqual([[expect.any(Number), 200]])
})
