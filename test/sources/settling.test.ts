import type { Stats } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type FoundFile, Settling } from '../../src/sources/settling.ts'

function file(raw: string, { size = 1, mtimeMs = 1, ino = 1 } = {}): FoundFile {
  return { raw, mode: 'full', stats: { size, mtimeMs, ctimeMs: 1, ino } as Stats }
}

function scan(settling: Settling, files: FoundFile[], nowMs: number): void {
  for (const found of files) settling.scan(found, nowMs)
  settling.endScan()
}

const names = (files: { raw: string }[]) => files.map(({ raw }) => raw)

describe('settling', () => {
  it('needs two looks, so far apart', () => {
    const settling = new Settling({ forMs: 100, filesMax: 10 })
    scan(settling, [file('a')], 0)
    expect(settling.settled()).toEqual([])
    expect(settling.nextDueMs(30)).toBe(70)
    expect(settling.due(99)).toEqual([])
    expect(settling.due(100)).toEqual(['a'])
    settling.see(file('a'), 100)
    expect(names(settling.settled())).toEqual(['a'])
  })

  it.each([
    ['size', { size: 2 }],
    ['time', { mtimeMs: 2 }],
    ['inode', { ino: 2 }],
  ])('starts again when the %s changes', (_, changes) => {
    const settling = new Settling({ forMs: 100, filesMax: 10 })
    settling.see(file('a'), 0)
    settling.see(file('a', changes), 99)
    settling.see(file('a', changes), 150)
    expect(settling.settled()).toEqual([])
    settling.see(file('a', changes), 199)
    expect(names(settling.settled())).toEqual(['a'])
  })

  it('takes at the first sight when nothing is to be waited for', () => {
    const settling = new Settling({ forMs: 0, filesMax: 10 })
    settling.see(file('a'), 5)
    expect(names(settling.settled())).toEqual(['a'])
    expect(settling.due(5)).toEqual([])
  })

  it('keeps the oldest of many, by time, then name', () => {
    const settling = new Settling({ forMs: 0, filesMax: 3 })
    const files = Array.from({ length: 20 }, (_, index) => file(`f${index}`, { mtimeMs: 20 - index }))
    scan(settling, [...files, file('b', { mtimeMs: 1 }), file('a', { mtimeMs: 1 })], 0)
    expect(names(settling.settled())).toEqual(['a', 'b', 'f19'])
    settling.see(file('z'), 0)
    expect(settling.names().length).toBe(3)
  })

  it('leaves what was set aside until the next scan, or until it changes', () => {
    const settling = new Settling({ forMs: 0, filesMax: 10 })
    scan(settling, [file('a'), file('b')], 0)
    settling.setAside('a')
    settling.setAside('b')
    settling.see(file('a'), 1)
    settling.see(file('b', { size: 5 }), 1)
    expect(names(settling.settled())).toEqual(['b'])
    expect(settling.nextDueMs(1)).toBe(0)
    settling.setAside('b')
    expect(settling.nextDueMs(1)).toBeUndefined()
    scan(settling, [file('a')], 2)
    expect(names(settling.settled())).toEqual(['a'])
  })

  it('forgets what a scan does not see, and keeps all of it when a scan fails', () => {
    const settling = new Settling({ forMs: 0, filesMax: 10 })
    scan(settling, [file('a'), file('b')], 0)
    settling.scan(file('b'), 1)
    settling.dropScan()
    expect(settling.names()).toEqual(['a', 'b'])
    scan(settling, [file('b')], 2)
    expect(settling.names()).toEqual(['b'])
  })
})
