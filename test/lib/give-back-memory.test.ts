import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'

interface ReportHeader {
  glibcVersionRuntime?: string
}

const { header } = process.report.getReport() as unknown as { header: ReportHeader }

/** Frees 99 of 100 blocks, so that what is free lies between what is not; MB before and after. */
const program = `
  const { giveBackMemory } = await import(process.argv[1])
  const megabytes = () => process.memoryUsage.rss() / 1e6
  const blocks = Array.from({ length: 40_000 }, () => Buffer.allocUnsafeSlow(6_000).fill(1))
  const kept = blocks.filter((_, place) => place % 100 === 0)
  blocks.length = 0
  gc({ type: 'major', flavor: 'last-resort' })
  const before = megabytes()
  giveBackMemory()
  console.log(JSON.stringify({ before, after: megabytes(), isKept: kept.every((block) => block.every((byte) => byte === 1)) }))
`

it.skipIf(header.glibcVersionRuntime === undefined)(
  'gives back freed memory that lies between memory in use (only glibc can)',
  () => {
    const module = new URL('../../src/lib/give-back-memory.ts', import.meta.url).href
    const args = ['--expose-gc', '--input-type=module', '--eval', program, module]
    const text = execFileSync(process.execPath, args, {
      encoding: 'utf8',
      env: { ...process.env, MALLOC_ARENA_MAX: '1' },
    })
    const { before, after, isKept } = JSON.parse(text) as { before: number; after: number; isKept: boolean }
    expect(before - after).toBeGreaterThan(150)
    expect(isKept).toBe(true)
  },
)
