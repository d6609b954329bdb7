import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rename, utimes, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Workplace } from './daemon.ts'
import { dirtFeeds } from './real-feeds-dirt.ts'
import { type AcceptanceFeed, type FeedBytes, sharedFeeds } from './real-feeds-shared.ts'
import { applyFile, complete, type Documents, type Row, readCsv } from './reference.ts'

const root = fileURLToPath(new URL('../../../shared/feeds/', import.meta.url))

interface ImportView {
  file: string
  feed: string
  outcome: string
  report: { records: number; rejected: number; rejectsFile?: string }
}

/** What the second opinion says of a whole feed: the documents, and the refused rows of each file. */
function expectedOf({ feed, files }: { feed: AcceptanceFeed; files: readonly FeedBytes[] }) {
  const products: Documents = new Map()
  const refused = new Map<string, Row[]>()
  for (const { name, text, delimiter } of files) {
    const table = readCsv(text, delimiter)
    refused.set(name, applyFile(products, { table, mode: feed.mode, read: feed.read }))
  }
  return { documents: complete(products), refused }
}

function catalogYaml(feeds: readonly AcceptanceFeed[]): string {
  const parts = feeds.map(({ name, mode, yaml }) => {
    const fields = yaml.trim().replace(/^/gm, '      ')
    return `  ${name}:\n    drop: ./drop/${name}\n    mode: ${mode}\n    settle: 0s\n    fields:\n${fields}`
  })
  // Files of one feed follow each other: what a later one edits must not wait for the quarter of an hour.
  return `deferred: { after: 0s, atMost: 1s }\nfeeds:\n${parts.join('\n')}`
}

/** Everything stands in the drop folders before the daemon starts; the modification times give the order. */
async function fillDropFolder(
  workplace: Workplace,
  { feed, files }: { feed: AcceptanceFeed; files: readonly FeedBytes[] },
): Promise<void> {
  const folder = workplace.path('drop', feed.name)
  await mkdir(folder, { recursive: true })
  for (const [index, { name, bytes }] of files.entries()) {
    const temporary = `${folder}/.${name}.tmp`
    await writeFile(temporary, bytes)
    await utimes(temporary, 1_700_000_000 + index, 1_700_000_000 + index)
    await rename(temporary, `${folder}/${name}`)
  }
}

function describeFeeds(title: string, available: boolean, load: () => readonly AcceptanceFeed[]): void {
  describe.skipIf(!available)(title, () => {
    const feeds = available ? load().map((feed) => ({ feed, files: feed.files() })) : []
    let workplace: Workplace
    let held: Documents
    let imports: ImportView[]

    beforeAll(async () => {
      workplace = await Workplace.open(catalogYaml(feeds.map(({ feed }) => feed)))
      for (const each of feeds) await fillDropFolder(workplace, each)
      await workplace.start()
      await workplace.untilImported(feeds.flatMap(({ files }) => files).length)
      await workplace.untilQuiet()
      held = await workplace.documents()
      imports = await workplace.ask<ImportView[]>('imports', '--limit', '100')
    })
    afterAll(() => workplace?.[Symbol.asyncDispose]())

    it('holds nothing but what the reference computes', () => {
      const ids = feeds.flatMap((each) => [...expectedOf(each).documents.keys()])
      expect([...held.keys()].sort()).toEqual(ids.sort())
      expect(ids.length).toBeGreaterThan(5)
    })

    it.each(feeds.map((each) => [each.feed.name, each] as const))(
      '%s: every field of every product, and the rejected records',
      async (name, each) => {
        const { documents, refused } = expectedOf(each)
        const actual = [...documents.keys()].map((id) => [id, held.get(id)])
        expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(documents))

        for (const [file, rows] of refused) {
          const found = imports.find((one) => one.feed === name && one.file === file)
          expect(found, file).toMatchObject({ outcome: 'imported', report: { rejected: rows.length } })
          expect(await rejectedCells(found?.report.rejectsFile, each), file).toEqual(
            rows.map(({ cells }) => cells.join('\u0000')).sort(),
          )
        }
      },
    )
  })
}

/** The cells of the records in the rejects file, without the columns about them. */
async function rejectedCells(
  file: string | undefined,
  { files: [first] }: { files: readonly FeedBytes[] },
): Promise<string[]> {
  if (file === undefined || first === undefined) return []
  const { columns, rows } = readCsv(
    new TextDecoder(first.encoding).decode(await readFile(file)),
    first.delimiter,
  )
  const isOwn = columns.map((column) => column.startsWith('catalogd_'))
  expect(isOwn.slice(0, 6)).toEqual([true, true, true, true, true, false])
  return rows.map(({ cells }) => cells.filter((_, place) => !isOwn[place]).join('\u0000')).sort()
}

describeFeeds('shared feeds through a daemon', existsSync(`${root}amazon`), () =>
  sharedFeeds({
    list: (folder) => readdirSync(root + folder).sort(),
    read: (file) => readFileSync(root + file, 'utf8'),
  }),
)

describeFeeds('dirty feeds of our own through a daemon', true, dirtFeeds)
