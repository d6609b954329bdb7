import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleFields, writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import { Workplace } from './daemon.ts'

const products = 5_000

interface Summary {
  files: { outcome: string; sequence: number; mode: string }[]
  records: number
  rejected: number
  unchanged: number
  changes: Record<string, number>
  calls: number
  bytes: number
  fill: number | null
  seconds: number
  waiting: number
  dead: number
}

const catalog = `
deferred: { after: 0s, atMost: 1s }
feeds:
  products:
    drop: ./drop/products
    settle: 0s
    fields:
${sampleFields.map((line) => `      ${line}`).join('\n')}
`

/** Path → digest of every file below a folder. */
async function fingerprint(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`)
  const digests = files.sort().map(async (file) => {
    const content = await readFile(file)
    return [file.slice(folder.length), createHash('sha256').update(content).digest('hex')]
  })
  return Object.fromEntries(await Promise.all(digests))
}

describe('load', () => {
  let workplace: Workplace
  let first: Summary
  const firstFile = () => workplace.path('first.csv')
  const secondFile = () => workplace.path('second.csv')
  const isRepriced = (product: number) => product % 100 === 7

  beforeAll(async () => {
    workplace = await Workplace.open(catalog)
    await writeSampleFeed(firstFile(), { products })
    await writeSampleFeed(secondFile(), { products, isRepriced })
  })
  afterAll(() => workplace?.[Symbol.asyncDispose]())

  it('looks at a file without credentials, and leaves no trace where nothing ever ran', async () => {
    const before = await readdir(workplace.path())
    const check = await workplace.runBare('check', 'products', firstFile(), '--json')
    expect(JSON.parse(check.stdout)).toMatchObject({ ok: true, records: products, rejected: 0, mode: 'full' })
    for (const args of [
      ['diff', 'products', firstFile()],
      ['load', 'products', firstFile(), '--dry-run'],
    ]) {
      const ran = await workplace.runBare(...args, '--json')
      const last = JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '') as { summary: Summary }
      expect(last.summary).toMatchObject({ records: products, changes: { added: products } })
      expect(ran).toMatchObject({ code: 0, stderr: '' })
    }
    expect(await readdir(workplace.path())).toEqual(before)
  })

  it('says what is missing before anything is taken in', async () => {
    const without = await workplace.runBare('load', 'products', firstFile())
    expect(without.code).toBe(2)
    expect(without.stderr).toContain('the environment variable CATALOG_API_URL is not set')
    const absent = await workplace.run('load', 'products', firstFile(), './nowhere.csv')
    expect(absent.code).toBe(2)
    expect(absent.stderr).toContain('there is no file ./nowhere.csv')
    const inbox = await readdir(workplace.path('state', 'main', 'inbox')).catch(() => [])
    expect(inbox).toEqual([])
  })

  it('delivers every product, and nothing when the file comes again', async () => {
    first = await workplace.ask<Summary>('load', 'products', firstFile())
    expect(first).toMatchObject({
      files: [{ outcome: 'imported', sequence: 1, mode: 'full' }],
      records: products,
      rejected: 0,
      unchanged: 0,
      changes: { added: products, changed: 0, missing: 0, new: products },
      waiting: 0,
      dead: 0,
    })
    expect(first.calls).toBeGreaterThan(0)
    expect(first.bytes).toBeLessThanOrEqual(first.calls * 2_000_000)
    expect(first.fill).toBeCloseTo(first.bytes / (first.calls * 2_000_000))
    expect(await workplace.documents()).toHaveProperty('size', products)

    const again = await workplace.ask<Summary>('load', 'products', firstFile())
    expect(again).toMatchObject({ records: products, unchanged: products, calls: 0, bytes: 0, fill: null })
    expect(await workplace.summary()).toMatchObject({ documentsTaken: products, overlapping: { count: 0 } })
  })

  it('looks at a file without touching what stands there', async () => {
    // Redis writes of its own accord (its log, what expired): there, what it answers must stay the same.
    const state = async () => {
      const files = Object.entries(await fingerprint(workplace.path('state')))
      const { calls, ...status } = await workplace.status()
      // What came in the last minute passes by itself.
      const { lastMinute: _, ...earlier } = calls
      return [files.filter(([file]) => !file.startsWith('/redis/')), status, earlier]
    }
    const before = await state()
    const diff = await workplace.runBare('diff', 'products', secondFile(), '--json')
    const lines = diff.stdout.trim().split('\n')
    expect(lines).toHaveLength(products / 100 + 1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      productId: 'SKU-00000007',
      kind: 'changed',
      lane: 'urgent',
    })
    const dry = await workplace.runBare('load', 'products', secondFile(), '--dry-run')
    expect(dry.stdout).toContain(`5,000 records: 0 added, ${products / 100} changed, 0 missing`)
    expect(await state()).toEqual(before)
  })

  it('through a daemon sends exactly what changed, and tells the same', async () => {
    const daemon = await workplace.start()
    const ran = await workplace.run('load', 'products', secondFile())
    expect(ran.code).toBe(0)
    expect(ran.stderr).toContain(`done by the daemon (pid ${daemon.pid})`)
    expect(ran.stdout).toContain(`0 added, ${products / 100} changed, 0 missing, 4950 unchanged, 0 rejected`)
    expect(ran.stdout).toContain(`${products / 100} urgent, 0 new, 0 deferred`)
    expect(await workplace.summary()).toHaveProperty('documentsTaken', products + products / 100)
    for (let product = 0; product < products; product += 250) {
      const id = `SKU-${String(product + 7).padStart(8, '0')}`
      expect((await workplace.held(id))?.times, id).toBe(isRepriced(product + 7) ? 2 : 1)
    }
    const summary = await workplace.ask<Summary>('load', 'products', secondFile())
    expect(Object.keys(summary).sort()).toEqual(Object.keys(first).sort())
    expect(summary).toMatchObject({ unchanged: products, calls: 0, waiting: 0 })
  })

  it('has rejected records in a file that can be corrected and loaded', async () => {
    const [header = '', one = '', ...others] = (await readFile(secondFile(), 'utf8')).split(/\n(?=SKU-)/)
    const spoiled = [header, one.replace(/^SKU-\d+/, ''), ...others]
    await writeFile(workplace.path('spoiled.csv'), spoiled.join('\n'))
    const ran = await workplace.run('load', 'products', workplace.path('spoiled.csv'), '--json')
    expect(ran.code).toBe(1)
    const [file] = (JSON.parse(ran.stdout) as { files: { rejectsFile?: string; reason?: string }[] }).files
    expect(file?.reason).toContain('the id of 1 of 5000 records cannot be read')
    const rejects = await readFile(file?.rejectsFile ?? '', 'utf8')
    expect(rejects.split('\n')[0]).toContain('catalogd_reason')
    const [names = [], ...rows] = parse(rejects) as string[][]
    for (const row of rows)
      row[names.findIndex((name) => !name.startsWith('catalogd_'))] = one.slice(0, one.indexOf(','))
    const text = [names, ...rows].map((cells) =>
      cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','),
    )
    await writeFile(workplace.path('corrected.csv'), `${text.join('\n')}\n`)
    const summary = await workplace.ask<Summary>('load', 'products', workplace.path('corrected.csv'))
    expect(summary).toMatchObject({ records: 1, unchanged: 1, rejected: 0, changes: { missing: 0 } })
  })
})
