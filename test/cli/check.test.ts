import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reasonOf } from '../../src/lib/reason-of.ts'
import type { FileCheck } from '../../src/operations/check-file.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { runCli } from './support.ts'

const config = `catalogs:
  main:
    api: { url: "http://127.0.0.1:1", productsToken: p }
    feeds:
      shop:
        drop: ./shop
        fields:
          product_id: Id
          name: Name
          price: { column: Price, decimal: "," }
          supplier_cost: Cost
          rating_value: Rating
          categories: Categories
`
const header = 'Id,Name,Price,Cost,Rating,Categories\n'

let folder: TempDir
beforeAll(async () => {
  folder = await tempDir('cli-check')
  await writeFile(folder.join('catalogd.yaml'), config)
})
afterAll(() => folder?.[Symbol.asyncDispose]())

async function check(text: string, ...options: string[]) {
  const file = folder.join('shop.csv')
  await writeFile(file, text)
  return runCli(['check', 'shop', file, '--config', folder.join('catalogd.yaml'), ...options])
}

describe('check', () => {
  it('ends with the problems, what products lack, and what to do', async () => {
    const price = `a${' b'.repeat(200)}`
    const { exitCode, stdout } = await check(
      `${header}1,A,x,1,4,a\n2,B,"${price}",2,5,b\n2,C,"7,5",3,5,c\n3,D,1,secret,5,d\n4,E,"=2",1,y,"x > y"\n`,
    )
    expect(exitCode).toBe(1)
    const lines = stdout.trimEnd().split('\n').slice(1)
    expect(lines.slice(0, 5)).toEqual([
      '5 records: 1 good, 4 rejected',
      'Ids in "Id": 4 different; 1 of them in several records, of which the last counts',
      '  → where several rows make one product, set group; else map product_id to a column that tells products apart',
      '  rejected  3 records  price  not-a-number',
      expect.stringMatching(/^ {4}record 1, line 2: found the text "x" .* \(column "Price"\)$/),
    ])
    expect(lines[5]).toBe('    → give digits only, or map the word with when')
    expect(stdout).toMatch(/rejected {2}1 record {2}supplier_cost {2}not-a-number/)
    expect(stdout).not.toContain('secret')
    expect(stdout).toMatch(/→ set separator: ">"\n/)
    expect(lines.slice(-8).join('\n')).toMatch(
      /1 product incomplete, .*\n {2}\w+ +all\n(.*\n)*→ Correct the rejected records .*\n→ Map what is required/,
    )
  })

  it('takes a blank group of rows for none, whatever the table calls its columns', async () => {
    const preset = config.replace(/fields:.*/s, 'preset: google-merchant\n')
    await writeFile(folder.join('google.yaml'), preset)
    const file = folder.join('google.csv')
    const rest = 'https://shop.example/a,https://shop.example/a.jpg,10.00 EUR,in stock,Warm'
    const header = 'id,item_group_id,title,link,image_link,price,availability,description'
    await writeFile(file, `${header}\na,,Lamp,${rest}\nb,G1,Shirt,${rest}\nc,G1,Shirt,${rest}\n`)
    const { exitCode, stdout } = await runCli(['check', 'shop', file, '--config', folder.join('google.yaml')])
    expect(stdout).toContain('2 records of 3 rows: 2 good, 0 rejected\nNothing to correct.')
    expect(exitCode).toBe(0)
  })

  it('fails for a full file with a record whose id cannot be read, rejected or not', async () => {
    const skips = "export default (record) => (record.Name === 'Total' ? undefined : record)\n"
    await writeFile(folder.join('skip.mjs'), skips)
    const given = config.replace('drop: ./shop', 'drop: ./shop\n        transform: ./skip.mjs')
    await writeFile(folder.join('skips.yaml'), given)
    const file = folder.join('skips.csv')
    await writeFile(file, `${header}1,A,1,1,4,a\n,Total,1,1,4,a\n`)
    const args = ['check', 'shop', file, '--config']
    const full = await runCli([...args, folder.join('skips.yaml')])
    expect(full.stdout).toMatch(
      /: 1 good, 0 rejected\nIds in "Id": 1 different; none can be read in 1 record\n {2}→ /,
    )
    expect(full.stdout).not.toContain('Nothing')
    expect(full.exitCode).toBe(1)
    await writeFile(
      folder.join('delta.yaml'),
      given.replace('drop: ./shop', 'drop: ./shop\n        mode: delta'),
    )
    expect((await runCli([...args, folder.join('delta.yaml')])).exitCode).toBe(0)
  })

  it('gives the same as JSON, with each value and remedy apart and counts by code', async () => {
    const { stdout } = await check(
      `${header}1,A,"=x, mail me@shop.example",1,4,a\n2,B,1,oops,4,a\n`,
      '--json',
    )
    const found = JSON.parse(stdout)
    expect(found).toMatchObject({
      issues: { 'not-a-number': 2 },
      ids: { columns: ['Id'], different: 2, repeated: 0, unreadable: 0 },
    })
    const [price, cost] = found.problems
    expect(price).toMatchObject({ code: 'not-a-number', field: 'price', severity: 'reject', count: 1 })
    const [{ value, message, remedy, line }] = price.examples
    expect([value, line]).toEqual(['=x, mail ********', 2])
    expect(message).toContain(remedy)
    expect(cost.examples[0]).not.toHaveProperty('value')
    expect(stdout).not.toMatch(/oops|me@shop/)
  })

  it('says that nothing is imported while columns are missing, and what they may be', async () => {
    const { stdout } = await check('Id,Nome,Price,Cost,Rating,Categories\n1,A,1,1,1,a\n')
    expect(stdout).toMatch(
      /^Held: .*\n {2}"Name" \(for name\); did you mean "Nome"\?\n(.*\n)+→ .*optional: true/m,
    )
  })

  it('has a remedy for whatever rejects a record, apart from the reason', async () => {
    const rules = `
          product_id: Id
          name: { column: Name, pattern: "^[A-Z]" }
          brand: { column: Name, when: { A: Acme } }
          url: Name
          price: { column: Price, part: amount }
          list_price: Price
          price_currency_code: { column: Price, part: currency }
          inventory_level: Rating
          date_published: { column: Name, date: DD.MM.YYYY }
          availability: { column: Name, words: availability }
          categories: { column: Categories }
          variations: { column: Categories }
          custom_fields: { column: Name, pairs: { separator: ",", equals: "=" } }`
    await writeFile(
      folder.join('all.yaml'),
      config.replace(/\n {10}product_id: Id\n.*/s, `${rules}\n        format: { encoding: utf-8 }\n`),
    )
    const file = folder.join('all.csv')
    const cells = ['1,é; b,5 $,1,1.5,a > b', '2,b; é,1 $,1,x,"[""a"', '3,b', '5,,,,,']
    const bytes = Buffer.from(`${header}${cells.join('\n')}\n6,caf`)
    await writeFile(file, Buffer.concat([bytes, Buffer.of(0xff), Buffer.from(',1,1,1,a\n')]))
    const { stdout } = await runCli(['check', 'shop', file, '--config', folder.join('all.yaml'), '--json'])
    const { problems, issues } = JSON.parse(stdout) as Pick<FileCheck, 'problems' | 'issues'>
    expect(Object.keys(issues).length).toBeGreaterThan(10)
    for (const { code, severity, examples } of problems) {
      for (const issue of severity === 'reject' ? examples : []) {
        expect(issue.remedy, `${code}: ${issue.message}`).toBeTruthy()
        expect(issue.message).toContain(issue.remedy)
        expect(reasonOf(issue)).not.toContain(issue.remedy)
        expect(reasonOf(issue), issue.message).toMatch(/[^;:, ]$/)
      }
    }
  })

  it('names ten kinds of problem at most', async () => {
    const empty = ['name', 'url', 'image_url', 'availability', 'price', 'price_currency_code']
    const wrong = ['list_price', 'rating_value', 'review_count', 'inventory_level', 'date_published']
    const file = folder.join('wide.csv')
    const cells = ['1', ...empty.map(() => ''), ...wrong.map(() => 'x')]
    await writeFile(file, `product_id,${[...empty, ...wrong].join(',')}\n${cells.join(',')}\n`)
    await writeFile(folder.join('plain.yaml'), config.replace(/\n {8}fields:.*/s, '\n'))
    const { stdout } = await runCli(['check', 'shop', file, '--config', folder.join('plain.yaml')])
    expect(stdout.match(/^ {2}rejected /gm)).toHaveLength(10)
    expect(stdout).toContain('\n  and 1 further kind of problem\n')
  })
})
