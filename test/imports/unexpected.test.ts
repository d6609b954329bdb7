import { mkdir, readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { UnexpectedFailures } from '../../src/imports/unexpected-failures.ts'
import type { Archive } from '../../src/sources/archive.ts'
import type { ClaimId } from '../../src/sources/model.ts'
import { waitFor } from '../support/events.ts'
import { tempDir } from '../support/temp-dir.ts'
import { feed, openImports, row } from './harness.ts'

const feeds = `bad:
  drop: ./bad
  mode: delta
  fields: { product_id: product_id, name: name }
  owns: [name]
good:
  drop: ./good
`

/** Whoever reads a file of feed `bad` throws a TypeError, as a bug would. */
function throwing(archive: Archive, times = Number.POSITIVE_INFINITY) {
  let left = times
  const sourceOf = archive.sourceOf.bind(archive)
  archive.sourceOf = async (accept) => {
    const source = await sourceOf(accept)
    return accept.feed === 'bad' && left-- > 0 ? { ...source, bytes: (2n ** 20n) as never } : source
  }
  return archive
}

test('a file whose import throws what nobody expects is tried once more, then refused; other feeds go on', async () => {
  await using box = await openImports(feeds, { readFrom: throwing })
  const refusing = box.import('bad', feed(row('x')), { mode: 'delta' })
  await waitFor(() => [...box.manifest.files()].length === 1)
  const good = await box.import('good', feed(row('a'), row('b')))
  const bad = await refusing
  expect(good).toMatchObject({ outcome: 'imported', changes: { added: 2 } })
  expect(bad).toMatchObject({ outcome: 'refused', hint: expect.stringContaining('report it with the log') })
  expect(bad.reason).toMatch(/failed 2 times .* the last time with TypeError: .*BigInt/)
  expect(box.failures).toEqual([])
  expect(await readdir(box.dir.join('state/failed/bad'))).toEqual(['bad.csv', 'bad.csv.report.json'])
  const errors = box.lines.filter(({ level }) => level === 'error')
  expect(errors.map(({ msg }) => msg)).toEqual(
    Array(2).fill('an import failed unexpectedly; imports begin again'),
  )
  expect(errors[0]?.err).toMatchObject({ stack: expect.stringContaining('import-run.ts') })
  expect(await box.import('bad', feed(row('y')), { mode: 'delta' })).toMatchObject({ outcome: 'refused' })
})

test('one that failed by chance is imported, and nothing is held against it', async () => {
  await using box = await openImports(feeds, { readFrom: (archive) => throwing(archive, 1) })
  const report = await box.import('bad', feed(row('x')), { mode: 'delta' })
  expect(report).toMatchObject({ outcome: 'imported', records: 1 })
  expect(await box.read(box.dir.join('state/unexpected-failures.json'))).toBe('{}\n')
})

test('two ends of the process count as well, and one does not', async () => {
  await using box = await openImports(feeds)
  for (const [ends, outcome] of [
    [1, 'imported'],
    [2, 'refused'],
  ] as const) {
    await box.stop()
    const importing = box.import('bad', feed(row('x')), { mode: 'delta' })
    const { claim } = await waitFor(() => [...box.manifest.files()][ends - 1])
    const earlier = new UnexpectedFailures(box.dir.join('state'))
    for (let end = 0; end < ends; end++) earlier.note(claim, new Error('it ended'))
    box.start()
    expect(await importing).toMatchObject({ outcome })
  }
})

test('where the disk refuses the note, the failure counts in this process and is itself told', async () => {
  await using dir = await tempDir()
  await mkdir(dir.join('unexpected-failures.json.tmp'))
  const failures = new UnexpectedFailures(dir.path)
  const file = { claim: '0123' satisfies ClaimId }
  const step = () =>
    failures.run(file, AbortSignal.timeout(240_000), () => Promise.reject(new TypeError('no')))
  for (const noted of [true, true, false]) {
    const error = await step().catch((thrown: unknown) => thrown)
    expect(failures.noteThrown(error)).toBe(noted)
  }
  expect(failures.givenUp(file)).toEqual({ times: 2, reason: 'TypeError: no' })
})
