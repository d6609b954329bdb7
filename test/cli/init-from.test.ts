import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { runCli } from './support.ts'

let folder: TempDir
let count = 0
beforeAll(async () => {
  folder = await tempDir('init-from')
})
afterAll(() => folder?.[Symbol.asyncDispose]())

/** Runs `init --from` on a file with this text, for a configuration of its own. */
async function initFrom(text: string, options: readonly string[] = []) {
  count += 1
  const file = folder.join(`export-${count}.csv`)
  await writeFile(file, text)
  const config = folder.join(`shop-${count}.yaml`)
  const ran = await runCli(['init', '--from', file, '--yes', '--config', config, ...options])
  const env = { CATALOG_API_URL: 'http://127.0.0.1', API_PRODUCTS_TOKEN: 'none' }
  const check = () => runCli(['check', 'products', file, '--config', config], { env })
  return { ...ran, written: await readFile(config, 'utf8').catch(() => ''), check }
}

const nativeHeader = 'product_id,name,url,image_url,availability,price,price_currency_code,categories'

function nativeRows(
  rows: number,
  cells: (row: number) => readonly [availability: string, category: string],
): string {
  const lines = Array.from({ length: rows }, (_, row) => {
    const [availability, category] = cells(row)
    const address = `https://shop.example/${row}`
    return `P${row},Desk lamp ${row},${address},${address}.jpg,${availability},${row + 10}.00,EUR,${category}`
  })
  return `${[nativeHeader, ...lines].join('\n')}\n`
}

describe('init --from', () => {
  it('shows three products as they would be sent, and then what comes next', async () => {
    const { stdout, exitCode } = await initFrom(nativeRows(9, () => ['InStock', 'Home/Lamps']))
    expect(exitCode).toBe(0)
    expect(stdout.match(/^As it would be sent, from record \d+:$/gm)).toHaveLength(3)
    expect(stdout).toMatch(
      / {4}categories +\["Home\/Lamps"\]\n\nWritten: (.*\n)+ {2}catalogd --config \S+ start\n/,
    )
  })

  it.each([
    ['--currency', 'EURO', 'a currency code such as EUR'],
    ['--shop-url', 'example-shop.de', 'an address such as https://shop.example'],
  ])('refuses a constant that cannot be one: %s %s', async (option, value, expected) => {
    const { stderr, exitCode, written } = await initFrom(
      nativeRows(3, () => ['InStock', 'Home']),
      [option, value],
    )
    expect([exitCode, written]).toEqual([2, ''])
    expect(stderr).toContain(`Expected ${expected}`)
  })

  it('takes no preset that rejects most of the file, where the columns by themselves do not', async () => {
    // Its header is a preset's, but its availability counts pieces.
    const counted = nativeRows(9, (row) => [String(row + 3), 'Home']).replace(
      nativeHeader,
      'id,title,link,image_link,availability,price,currency,product_type',
    )
    const { stdout, written, check } = await initFrom(counted)
    expect(written).not.toContain('preset')
    expect(stdout).toContain('9 records: 9 good, 0 rejected')
    expect((await check()).exitCode).toBe(0)
  })

  it('says so where too much is lost, with the most frequent problems to look at, each once', async () => {
    const words = ['InStock', 'on the way', 'InStock']
    const text = nativeRows(9, (row) => [row === 0 ? '' : (words[row % 3] ?? ''), 'Home > Lamps'])
      .replace(nativeHeader, 'id,title,link,image_link,availability,price,currency,product_type')
      .replaceAll(',EUR', ' EUR,EUR')
    const { stdout, written, exitCode } = await initFrom(text)
    expect(exitCode).toBe(0)
    expect(stdout).toContain('9 records: 5 good, 4 rejected')
    expect(stdout).not.toMatch(/ start$/m)
    expect(stdout).toMatch(/is not ready.*CHECK.*:\n {2}catalogd --config \S+ check products \S+\n$/)
    expect(written).toMatch(/# CHECK: 3 of 9 records are rejected: availability: found the text "on the way"/)
    expect(written).toMatch(/# CHECK: 1 of 9 records is rejected: availability: found nothing/)
    expect(stdout.match(/found the text "on the way"/g)).toHaveLength(1)
    const { stdout: json } = await initFrom(text, ['--json'])
    expect(JSON.parse(json)).toMatchObject({ ready: false, check: { rejected: 4 } })
  })

  it('starts over a file with an exception or two', async () => {
    const text = nativeRows(9, () => ['InStock', 'Home/Lamps']).replace('14.00', 'on request')
    const { stdout } = await initFrom(text)
    expect(stdout).toContain('9 records: 8 good, 1 rejected\n  rejected  1 record  price')
    expect(stdout).toMatch(/ start$/m)
    const blank = await initFrom(nativeRows(30, () => ['InStock', 'Home']).replace('P4,', ','))
    expect(blank.stdout).toMatch(/ start$/m)
  })

  it('does not start where nothing would be sent, or later records replace others', async () => {
    const plain = 'sku,name,price,currency\nA1,Desk lamp,10.00,EUR\nA2,Desk chair,12.00,EUR\n'
    const { stdout, written } = await initFrom(plain, ['--shop-url', 'https://shop.example'])
    expect(stdout).not.toMatch(/ start$/m)
    expect(written).toMatch(/# CHECK: 2 products are not sent, for want of image_url/)
    // Behind the beginning, which is all that a guess looks at.
    const ids = nativeRows(700, () => ['InStock', 'Home']).replaceAll(/^P6\d\d,/gm, 'P1,')
    const repeated = await initFrom(ids)
    expect(repeated.stdout).not.toMatch(/ start$/m)
    expect(repeated.written).toMatch(/# CHECK: product_id: 100 of 700 records are replaced by a later one/)
  })
})
