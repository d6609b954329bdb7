import { writeFile } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { withReadBar } from '../../src/cli/read-bar.ts'
import { tempDir } from '../support/temp-dir.ts'

const megabyte = 1_000_000

async function readOf(bytes: number, { isTerminal = true, fails = false } = {}) {
  await using dir = await tempDir('read-bar')
  const file = dir.join('feed.csv')
  await writeFile(file, Buffer.alloc(bytes))
  const stream = Object.assign(new PassThrough(), { isTTY: true })
  let shown = ''
  stream.on('data', (chunk) => (shown += chunk))
  const reading = withReadBar(
    file,
    { label: 'Reading', passes: 2, isTerminal, stream },
    async (onProgress) => {
      for (const at of [6 * megabyte, 12 * megabyte, 3 * megabyte]) onProgress?.(at)
      if (fails) throw new Error('no such luck')
      return 'read'
    },
  )
  return { result: await reading.catch(String), shown }
}

it('counts every pass over a large file, and leaves nothing behind', async () => {
  const { result, shown } = await readOf(12 * megabyte)
  expect(result).toBe('read')
  expect(shown).toContain(' 63 % | Reading')
  // The cursor is shown again and the line cleared.
  expect(shown.endsWith('\u001b[1G\u001b[2K')).toBe(true)
  expect(shown.lastIndexOf('\u001b[?25h')).toBeGreaterThan(shown.lastIndexOf('\u001b[?25l'))
  expect(shown).not.toContain('\n')
})

it('leaves nothing behind where reading fails', async () => {
  const { result, shown } = await readOf(12 * megabyte, { fails: true })
  expect(result).toContain('no such luck')
  expect(shown).toContain('\u001b[?25h')
})

it('shows nothing of a small file, or where nobody watches', async () => {
  expect(await readOf(megabyte)).toEqual({ result: 'read', shown: '' })
  expect(await readOf(12 * megabyte, { isTerminal: false })).toEqual({ result: 'read', shown: '' })
})
