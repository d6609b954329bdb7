import { expect, it } from 'vitest'
import { problemsOf, read, withFeed } from './support.ts'

it('transform is a file beside the configuration, with a limit of its time', async () => {
  const files = { 'mine.ts': 'export default (record) => record' }
  for (const [text, limitMs] of [
    ['./mine.ts', 100],
    ['{ file: mine.ts, timeout: 2s }', 2000],
  ] as const) {
    const { loaded, folder } = await read(withFeed(`transform: ${text}`), { files })
    const [feed] = loaded.config.catalogs.values().next().value?.feeds.values() ?? []
    expect(feed?.transform).toEqual({ file: `${folder}/mine.ts`, limitMs })
  }
})

it('a transform that is not there is a problem, and so is one of consents', async () => {
  const gone = await problemsOf(withFeed('transform: ./gone.ts'))
  expect(gone).toEqual([
    expect.stringMatching(/transform: found .*gone\.ts, which is no file, expected the path/),
  ])
  const consents = await problemsOf(withFeed('kind: consents\ntransform: ./gone.ts'))
  expect(consents.join('\n')).toMatch(/transform: has no meaning in a feed of kind consents/)
})
