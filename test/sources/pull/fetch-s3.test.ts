import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { CopyObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FeedConfig, S3Source } from '../../../src/config/model.ts'
import { type Child, startChild } from '../../support/child.ts'
import { type TempDir, tempDir } from '../../support/temp-dir.ts'
import { given, openPullSite, pullOf } from '../support/pull-site.ts'

const s3rver = createRequire(import.meta.url).resolve('s3rver/bin/s3rver.js')
const Bucket = 'feeds'
const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

let dir: TempDir
let server: Child
let endpoint: string
let client: S3Client

beforeAll(async () => {
  dir = await tempDir('s3')
  const args = [
    '--directory',
    dir.join('store'),
    '--address',
    '127.0.0.1',
    '--port',
    '0',
    '--configure-bucket',
    Bucket,
  ]
  server = await startChild(s3rver, { args, env: { NODE_OPTIONS: '--no-deprecation' } })
  const line = await server.line(/listening on/i)
  endpoint = `http://127.0.0.1:${/:(\d+)/.exec(line)?.[1]}`
  client = new S3Client({
    ...{ endpoint, region: 'us-east-1', forcePathStyle: true, credentials },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  })
})
afterAll(async () => {
  client?.destroy()
  await server?.[Symbol.asyncDispose]()
  await dir?.[Symbol.asyncDispose]()
})

const put = (Key: string, Body: string) => client.send(new PutObjectCommand({ Bucket, Key, Body }))
const keys = async (Prefix: string) =>
  ((await client.send(new ListObjectsV2Command({ Bucket, Prefix }))).Contents ?? []).map(({ Key }) => Key)

function siteOf(
  state: string,
  { accessKeyId = 'S3RVER', ...changes }: Partial<S3Source> & { accessKeyId?: string } = {},
  feed: Partial<FeedConfig> = {},
) {
  const source: S3Source = {
    ...{ kind: 's3', bucket: given(Bucket), prefix: 'exports/', endpoint: given(new URL(endpoint)) },
    ...{ region: 'us-east-1', pathStyle: true, network: {}, after: 'keep', moveTo: undefined },
    credentials: {
      accessKeyId: given(accessKeyId),
      secretAccessKey: given('S3RVER'),
      sessionToken: undefined,
    },
    ...changes,
  }
  const files = [{ pattern: '*.csv', mode: 'full' as const }]
  return openPullSite({ dir: dir.join(state), pull: pullOf(source), feed: { files, ...feed } })
}

test('objects of a bucket are accepted once, and again when they were written anew', async () => {
  await put('exports/a.csv', 'sku\n1\n')
  await put('exports/b.csv', `sku\n${'2'.repeat(300_000)}\n`)
  await put('exports/old/c.csv', 'sku\n3\n')
  await put('exports/readme.txt', 'no feed file')
  await put('elsewhere.csv', 'sku\n4\n')
  const names = async () => {
    await using site = await siteOf('state')
    // No settling is waited for: an object is there whole.
    await site.fetch()
    await site.fetch()
    expect(site.trouble()).toBeUndefined()
    const accepted = site.accepted().map(({ name }) => name)
    const last = site.archivedPaths().at(-1) ?? ''
    return { accepted, last: await readFile(last, 'utf8') }
  }
  expect((await names()).accepted.toSorted()).toEqual(['a.csv', 'b.csv'])
  await put('exports/a.csv', 'sku\n5\n')
  const again = await names()
  expect(again.accepted.toSorted()).toEqual(['a.csv', 'a.csv', 'b.csv'])
  expect(again.last).toBe('sku\n5\n')
})

test('an accepted object is moved below another prefix, or deleted', async () => {
  await put('moved/x.csv', 'sku\n1\n')
  await put('done/x.csv', 'of yesterday')
  await using site = await siteOf('moving', { prefix: 'moved/', after: 'move', moveTo: 'done' })
  await site.fetch()
  expect(site.trouble()).toBeUndefined()
  expect(await keys('moved/')).toEqual([])
  expect(await keys('done/')).toEqual([expect.stringMatching(/^done\/\d{8}T\d+-x\.csv$/), 'done/x.csv'])
  await client.send(new CopyObjectCommand({ Bucket, Key: 'gone/y.csv', CopySource: `${Bucket}/done/x.csv` }))
  await using deleting = await siteOf('deleting', { prefix: 'gone/', after: 'delete' })
  await deleting.fetch()
  expect(deleting.accepted()).toHaveLength(1)
  expect(await keys('gone/')).toEqual([])
})

test('a failure says what to do, and shows no secret', async () => {
  await using wrong = await siteOf('wrong', { accessKeyId: 'NOBODY' })
  await wrong.fetch()
  expect(wrong.trouble()).toMatch(
    /cannot list its objects in the bucket feeds: .*Correct accessKeyId and secretAccessKey/,
  )
  await using none = await siteOf('none', { bucket: given('nobody') })
  await none.fetch()
  expect(none.trouble()).toMatch(/in the bucket nobody: NoSuchBucket.*Correct bucket/)
  await using away = await siteOf('away', { endpoint: given(new URL('http://127.0.0.1:1')) })
  await away.fetch()
  expect(away.trouble()).toMatch(/ECONNREFUSED.*Correct endpoint/)
  const shown = [wrong, none, away].map((site) => JSON.stringify(site.lines) + site.trouble()).join()
  expect(shown).not.toContain('S3RVER')
})
