import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Workplace } from '../acceptance/daemon.ts'
import { waitFor } from '../support/events.ts'
import { runCli } from './support.ts'

// Data of feeds, answers of the endpoint and names of files are written by others: none of it commands the terminal.

const hostile = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\u2028'
/** Our own. */
const colour = new RegExp(`${'\u001b'}?\\[\\d+m`, 'g')
const commanding = /[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u
const feed = `feeds:
  shop:
    drop: ./drop/shop
    files: "*.csv"
    settle: 0s
`
const header = 'product_id,name,url,image_url,availability,price,price_currency_code,list_price'
const row = (id: string, name: string, listPrice = '12') =>
  `"${id}","${name}",https://shop.example/p,https://shop.example/i.jpg,InStock,10,EUR,"${listPrice}"`
const content = `${[
  header,
  row(`id${hostile}`, `Lamp ${hostile}`),
  row('forged\nredis     up at nowhere', 'Lamp'),
  row('wrong', `Lamp ${hostile}`, `x${hostile}`),
].join('\n')}\n`

let workplace: Workplace
const config = () => ['--config', workplace.path('catalogd.yaml')]

beforeAll(async () => {
  workplace = await Workplace.open(feed)
  await writeFile(workplace.path(`feed${hostile.replaceAll('/', '')}\n.csv`), content)
  await writeFile(workplace.path('other.csv'), content.replaceAll('Lamp', 'Lampe'))
  await workplace.fault({ status: 400, body: `no ${hostile}\nforged` })
  await workplace.start()
  await workplace.drop('shop', `shop${hostile}.csv`, content)
  await workplace.drop('shop', `anna@person.example${hostile}\nforged.txt`, 'no feed')
  const isRefused = async () => {
    const { overview, notices } = await workplace.status()
    return notices.length > 0 && overview.pending > 0 && overview.pending === overview.dead
  }
  await waitFor(isRefused, { what: 'dead letters and a notice of what is left alone' })
}, 300_000)
afterAll(() => workplace?.[Symbol.asyncDispose]())

const file = () => workplace.path(`feed${hostile}\n.csv`)

describe('no command lets through what commands a terminal', () => {
  it.each<[string, () => string[], RegExp]>([
    ['check', () => ['check', 'shop', file()], /\\u001b\[2J/],
    ['diff', () => ['diff', 'shop', workplace.path('other.csv')], /\\u001b\[2J/],
    ['load --dry-run', () => ['load', 'shop', file(), '--dry-run'], /\\u001b\[2J/],
    ['status', () => ['status'], /shop/],
    ['imports', () => ['imports'], /shop/],
    ['imports 1', () => ['imports', '1'], /shop/],
    ['dead list', () => ['dead', 'list'], /\\u001b\[2J/],
    ['dead show', () => ['dead', 'show', `id${hostile}`], /\\u001b\[2J/],
    ['dead retry', () => ['dead', 'retry', `none${hostile}`], /\\u001b\[2J/],
    ['init --from', () => ['init', '--from', file(), '--yes'], /\\u001b\[2J/],
  ])('%s', async (_name, argv, expected) => {
    const target = argv()[0] === 'init' ? ['--config', workplace.path('guessed', 'catalogd.yaml')] : config()
    const env = { CATALOG_API_URL: workplace.sandbox.url, API_PRODUCTS_TOKEN: 'acceptance-token' }
    const { stdout, stderr } = await runCli([...argv(), ...target], { env, isTTY: true })
    const all = (stdout + stderr).replaceAll(colour, '')
    expect(all).toMatch(expected)
    expect(all).not.toMatch(commanding)
    expect(all).not.toMatch(/^\s*(forged$|redis {5}up at nowhere)/m)
    expect(all).not.toContain('person.example')
  })

  it.each([['status'], ['imports'], ['dead', 'list'], ['check', 'shop'], ['diff', 'shop']])(
    '%s %s --json stays JSON with the texts as they are',
    async (...argv) => {
      const named = argv.length === 2 && argv[1] === 'shop' ? [...argv, file()] : argv
      const { stdout } = await runCli([...named, '--json', ...config()], {
        env: { CATALOG_API_URL: workplace.sandbox.url, API_PRODUCTS_TOKEN: 'acceptance-token' },
      })
      expect(stdout).not.toMatch(commanding)
      const lines = argv[0] === 'diff' ? stdout.trim().split('\n') : [stdout]
      const values = lines.map((line) => JSON.parse(line) as unknown)
      if (argv[0] === 'dead' || argv[0] === 'diff') expect(JSON.stringify(values)).toContain(hostile.at(-2))
    },
  )
})

it('init writes a configuration that reads headers of several lines', async () => {
  const rows = header.replace('product_id', '"Article\nnumber"').replace('name', '"Product\nname: #1"')
  await writeFile(workplace.path('lines.csv'), `${rows}\n${row('a', 'Lamp')}\n${row('b', 'Pan')}\n`)
  const target = workplace.path('lines', 'catalogd.yaml')
  const { exitCode, stdout, stderr } = await runCli(
    [
      'init',
      '--from',
      workplace.path('lines.csv'),
      '--id',
      '"Article\nnumber"',
      '--yes',
      '--config',
      target,
      '--json',
    ],
    {},
  )
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toMatchObject({ check: { records: 2 } })
  expect(await readFile(target, 'utf8')).not.toMatch(/^\s*number/m)
})
