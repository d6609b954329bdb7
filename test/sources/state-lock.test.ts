import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import type { SourceError } from '../../src/lib/errors.ts'
import { openStateLock, readLockHolder, tryStateLock } from '../../src/sources/state-lock.ts'
import { type Child, startChild } from '../support/child.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const script = new URL('support/hold-lock.ts', import.meta.url)

function never(): never {
  throw new Error('the lock was lost')
}

async function holder(file: string): Promise<Child> {
  const child = await startChild(script, { args: [file] })
  await child.line('held')
  return child
}

async function changeRecord(file: string, changes: object): Promise<void> {
  const path = `${file}.holder.json`
  const record: unknown = JSON.parse(await readFile(path, 'utf8'))
  await writeFile(path, JSON.stringify({ ...(record as object), ...changes }))
}

describe('state lock', () => {
  it('has one holder, names it, and is free afterwards', async () => {
    await using dir = await tempDir()
    const options = { file: dir.join('state', 'lock'), clock: systemClock, onLost: never }
    expect(await readLockHolder(options)).toBeUndefined()
    {
      await using held = await tryStateLock(options)
      expect(held?.holder.pid).toBe(process.pid)
      expect(await readLockHolder(options)).toEqual(held?.holder)
      expect(await tryStateLock(options)).toBeUndefined()
    }
    expect(await readLockHolder(options)).toBeUndefined()
    expect(await readdir(dir.join('state'))).toEqual([])
    await using again = await tryStateLock(options)
    expect(again).toBeDefined()
  })

  it('passes to the one that stands by when its holder releases it', async () => {
    await using dir = await tempDir()
    const file = dir.join('lock')
    await using first = await holder(file)
    await using second = await startChild(script, { args: [file] })
    expect(await second.line('standby')).toBe(`standby ${first.pid}`)
    expect(second.stdout).not.toContain('held')
    first.send('')
    first.send('release')
    await first.line('released')
    await second.line('held')
  })

  it('is taken over from a killed holder long before the time-out, by one of many', async () => {
    await using dir = await tempDir()
    const file = dir.join('lock')
    await using first = await holder(file)
    await using second = await startChild(script, { args: [file] })
    await using third = await startChild(script, { args: [file] })
    await Promise.all([second.line('standby'), third.line('standby')])
    const killedAt = performance.now()
    await first.kill('SIGKILL')
    const winner = await Promise.race([
      second.line('held').then(() => second),
      third.line('held').then(() => third),
    ])
    // Not a measurement: the time-out is 10 s.
    expect(performance.now() - killedAt).toBeLessThan(9_500)
    const loser = winner === second ? third : second
    expect((await readLockHolder({ file, clock: systemClock }))?.pid).toBe(winner.pid)
    await winner.kill('SIGKILL')
    await loser.line('held')
    expect(loser.stdout + winner.stdout).not.toContain('lost')
  })

  it('is taken over when another process has the pid of the killed holder', async () => {
    await using dir = await tempDir()
    const file = dir.join('lock')
    await using first = await holder(file)
    await changeRecord(file, { started: '1' })
    await using held = await tryStateLock({ file, clock: systemClock, onLost: never })
    expect(held).toBeDefined()
    await first.line('lost lock-lost')
  })

  it('is not taken by a record that belongs to an earlier holding', async () => {
    await using dir = await tempDir()
    const file = dir.join('lock')
    await using first = await holder(file)
    await changeRecord(file, { started: '1', folder: '1:1' })
    expect(await tryStateLock({ file, clock: systemClock, onLost: never })).toBeUndefined()
    expect(first.running).toBe(true)
  })

  it('is not taken from a holder of another host before the time-out, and is after it', async () => {
    await using dir = await tempDir()
    const file = dir.join('lock')
    const options = { file, clock: systemClock, onLost: never }
    await using first = await holder(file)
    await changeRecord(file, { host: 'elsewhere', table: 'another boot' })
    await first.kill('SIGKILL')
    expect(await tryStateLock(options)).toBeUndefined()
    const longAgo = new Date(Date.parse('2026-01-01'))
    await utimes(file, longAgo, longAgo)
    await using held = await tryStateLock(options)
    expect(held).toBeDefined()
  })

  it('tells a holder that lost it', async () => {
    await using dir = await tempDir()
    const file = dir.join('lock')
    const lost = Promise.withResolvers<SourceError>()
    await using held = await openStateLock({ file, clock: systemClock, onLost: lost.resolve })
    expect(held.holder.pid).toBe(process.pid)
    await rm(file, { recursive: true })
    await using other = await holder(file)
    expect((await lost.promise).code).toBe('lock-lost')
    expect(other.running).toBe(true)
    // Releasing what was lost takes nothing from the new holder.
    await held[Symbol.asyncDispose]()
    expect((await readLockHolder({ file, clock: systemClock }))?.pid).toBe(other.pid)
  })

  it('ends standing by when aborted', async () => {
    await using dir = await tempDir()
    const file = dir.join('lock')
    await using first = await holder(file)
    const aborting = new AbortController()
    const waiting = openStateLock({
      file,
      clock: systemClock,
      onLost: never,
      signal: aborting.signal,
      onStandby: () => aborting.abort(new Error('enough')),
    })
    await expect(waiting).rejects.toThrow()
    expect(first.running).toBe(true)
  })
})
