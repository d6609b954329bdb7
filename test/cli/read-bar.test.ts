import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { BarLine } from '../../src/cli/bar-line.ts'
import { openProgressBar } from '../../src/cli/progress-bar.ts'
import { withReadBar } from '../../src/cli/read-bar.ts'
import { tempDir } from '../support/temp-dir.ts'

const megabyte = 1_000_000
const commands = new RegExp(`(\r|\n|${'\u001b'}\\[K)`)

/** A terminal, as far as bars command it: the lines that stand there, and the longest there was. */
function terminal(columns: number) {
  const screen = { written: '', lines: [''], longest: 0, columns, isTTY: true }
  const write = (text: string) => {
    screen.written += text
    for (const part of text.split(commands)) {
      if (part === '\r') screen.lines.splice(-1, 1, '')
      else if (part === '\n') screen.lines.push('')
      else if (!part.startsWith('\u001b')) screen.lines.push(`${screen.lines.pop()}${part}`)
      screen.longest = Math.max(screen.longest, screen.lines.at(-1)?.length ?? 0)
    }
  }
  return { screen, stream: Object.assign(screen, { write }) }
}

function clockOf() {
  const clock = { atMs: 0, monotonic: () => clock.atMs }
  return clock
}

async function readOf(bytes: number, { isWatched = true, fails = false } = {}) {
  await using dir = await tempDir('read-bar')
  const file = dir.join('feed.csv')
  await writeFile(file, Buffer.alloc(bytes))
  const { screen, stream } = terminal(80)
  const barLine = isWatched ? new BarLine(stream) : undefined
  const clock = clockOf()
  const options = { label: 'checking', passes: 2, barLine, clock }
  const reading = withReadBar(file, options, async (onProgress) => {
    for (const at of [6 * megabyte, 12 * megabyte, 3 * megabyte]) {
      clock.atMs += 2_000
      onProgress?.(at)
    }
    if (fails) throw new Error('no such luck')
    return 'read'
  })
  return { result: await reading.catch(String), screen }
}

describe('a bar over a file that is read', () => {
  it('counts every pass over a large file, and leaves nothing behind', async () => {
    const { result, screen } = await readOf(12 * megabyte)
    expect(result).toBe('read')
    expect(screen.written).toContain(' 62 %  4 s left     checking, 3 MB/s')
    expect(screen.lines).toEqual([''])
  })

  it('leaves nothing behind where reading fails', async () => {
    const { result, screen } = await readOf(12 * megabyte, { fails: true })
    expect(result).toContain('no such luck')
    expect(screen.lines).toEqual([''])
  })

  it('shows nothing of a small file, or where nobody watches', async () => {
    expect((await readOf(megabyte)).screen.written).toBe('')
    expect((await readOf(12 * megabyte, { isWatched: false })).screen.written).toBe('')
  })
})

it('a bar never goes back, fits its line, and lets what else is written stand above it', () => {
  const { screen, stream } = terminal(80)
  const line = new BarLine(stream)
  const clock = clockOf()
  {
    using bar = openProgressBar(line, clock)
    bar.show(0.5, `applying: ${'Lampenkatalog-'.repeat(10)}`)
    expect(screen.longest).toBe(79)
    bar.show(0.4, '商品カタログ'.repeat(20))
    // Two columns a letter.
    expect(screen.lines.at(-1)?.length).toBeLessThan(65)
    expect(screen.lines.at(-1)).toContain(' 50 %')
    line.above(stream).write('a warning\n')
    bar.show(0.999, 'sending')
    expect(screen.lines).toEqual(['a warning', expect.stringMatching(/^█+ {2}99 % {2,}sending$/)])
  }
  expect(screen.lines).toEqual(['a warning', ''])
})
