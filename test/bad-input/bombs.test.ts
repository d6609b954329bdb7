import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startChild } from '../support/child.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { allBombs } from './all-bombs.ts'
import { repeated, writeText } from './bombs.ts'

// What would fill the memory is refused with a reason while the process stays small. CATALOGD_BOMB_TIMES prints what
// each takes.

/** A third of it is garbage that a busy machine collects late; each bomb would fill gigabytes. */
const megabytesMax = 384

interface Outcome {
  path: string
  code?: string
  message?: string
  hint?: string
  records?: number
  rejected?: number
  columns?: string[]
  megabytes: number
  milliseconds: number
  cpuMilliseconds: number
}

let dir: TempDir
/** In the order of the bombs, with what is no bomb at the end. */
let outcomes: readonly Outcome[] = []

beforeAll(async () => {
  dir = await tempDir('bombs')
  const paths = allBombs.map((_, at) => dir.join(`bomb-${at}`))
  for (const [at, { write }] of allBombs.entries()) await write(paths[at] as string)
  const wide = dir.join('wide.csv')
  await writeText(wide, 'id,name\n1,a\n2', repeated(',c', 2_000_000), '\n')
  const harmless = dir.join('harmless.csv')
  await writeText(harmless, 'id,__proto__,constructor\n1,{"polluted":1},x\n')
  // One process for all: what it takes at its end is the most that any of them took.
  await using child = await startChild('test/bad-input/bomb-judge.ts', { args: [...paths, wide, harmless] })
  const { code, signal } = await child.ended()
  expect({ code, signal, stderr: child.stderr }).toMatchObject({ code: 0, signal: null })
  outcomes = child.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}, 300_000)
afterAll(() => dir[Symbol.asyncDispose]())

describe('a bomb is refused, or its record rejected, with a reason', () => {
  it.each(allBombs.map((bomb, at) => ({ ...bomb, at })))('$title', ({ title, code, at }) => {
    const outcome = outcomes[at]
    if (process.env.CATALOGD_BOMB_TIMES)
      process.stdout.write(
        `${title}: ${outcome?.milliseconds} ms (${outcome?.cpuMilliseconds} ms of a processor), ${outcome?.megabytes} MB\n`,
      )
    if (code === undefined) {
      expect(outcome, JSON.stringify(outcome)).toMatchObject({ records: 1, rejected: 1 })
      return
    }
    expect(outcome?.code, JSON.stringify(outcome)).toMatch(code)
    expect(outcome?.message).toMatch(/^bomb/)
    expect(outcome?.hint).not.toBe('')
  })

  it('while the process stays small', () => {
    expect(outcomes.at(-1)?.megabytes).toBeLessThan(megabytesMax)
  })

  it('but a record of a million cells is rejected alone', () => {
    expect(outcomes.at(-2)).toMatchObject({ records: 1, rejected: 1 })
  })

  it('and a header of __proto__ harms nobody', () => {
    expect(outcomes.at(-1)).toMatchObject({ records: 1, columns: ['id', '__proto__', 'constructor'] })
  })
})
