import { appendFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { compactJournal } from '../../src/consents/compact.ts'
import { ConsentJournal } from '../../src/consents/journal.ts'
import type { JournalEntry } from '../../src/consents/journal-entry.ts'
import { newHeader } from '../../src/consents/journal-file.ts'
import { findConsentKey, openConsentKey } from '../../src/consents/key.ts'
import { isLater, parsePosition, positionOf } from '../../src/consents/position.ts'
import type { AcceptSequence, ConsentId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const identity = 'key.manifest'
const at = (sequence: number, record = 0) => positionOf(sequence as AcceptSequence, record)
const idOf = (index: number) =>
  Buffer.from(String(index).padStart(16, 'x')).toString('base64url') as ConsentId

function acknowledged(id: ConsentId, sequence: number, consent = true): JournalEntry {
  return { event: 'acknowledged', id, consent, position: at(sequence), at: sequence }
}

function openJournal(dir: TempDir, options: Partial<Parameters<typeof ConsentJournal.open>[0]> = {}) {
  const { log } = collectLog()
  return ConsentJournal.open({
    path: dir.join('journal.ndjson'),
    identity,
    clock: systemClock,
    log,
    ...options,
  })
}

async function readAll(journal: ConsentJournal): Promise<JournalEntry[]> {
  const all: JournalEntry[] = []
  for (let from = 0; from < journal.bytes; ) {
    const { entries, to } = await journal.read(from)
    all.push(...entries)
    from = to
  }
  return all
}

describe('the journal', () => {
  test('tells of each line when it is durable, in order, with the offset behind it', async () => {
    await using dir = await tempDir('journal')
    await using journal = await openJournal(dir)
    const entries = Array.from({ length: 2_000 }, (_, index) => acknowledged(idOf(index), index))
    const offsets: number[] = []
    for (const part of [entries.slice(0, 1), entries.slice(1, 1_500), entries.slice(1_500)]) {
      offsets.push(...(await Promise.all(part.map((entry) => journal.append(entry)))))
    }
    expect(await readAll(journal)).toEqual(entries)
    expect(offsets.at(-1)).toBe((await stat(dir.join('journal.ndjson'))).size)
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b))
    expect((await journal.read(offsets[4] ?? 0)).entries[0]).toEqual(entries[5])
  })

  test('takes a line from whoever was just told of another', async () => {
    await using dir = await tempDir('journal')
    await using journal = await openJournal(dir)
    for (let index = 0; index < 50; index++) {
      await Promise.all([
        journal.append(acknowledged(idOf(index), 1)).then(() => journal.append(acknowledged(idOf(index), 2))),
        journal.append(acknowledged(idOf(index), 3)),
      ])
    }
    expect((await readAll(journal)).length).toBe(150)
  })

  test('is cut where a kill tore its last line, wherever that is', async () => {
    await using dir = await tempDir('journal')
    const path = dir.join('journal.ndjson')
    {
      await using journal = await openJournal(dir)
      await journal.append(acknowledged(idOf(1), 1))
      await journal.append(acknowledged(idOf(2), 2))
    }
    const whole = await readFile(path)
    const lineBytes = (whole.length - whole.indexOf('\n') - 1) / 2
    for (const torn of [1, 7, lineBytes - 1]) {
      await writeFile(path, whole)
      await truncate(path, whole.length - torn)
      await using journal = await openJournal(dir)
      expect((await readAll(journal)).map(({ id }) => id)).toEqual([idOf(1)])
      await journal.append(acknowledged(idOf(3), 3))
      expect((await readAll(journal)).map(({ id }) => id)).toEqual([idOf(1), idOf(3)])
    }
  })

  test('that is damaged within is refused where it is damaged', async () => {
    await using dir = await tempDir('journal')
    {
      await using journal = await openJournal(dir)
      await journal.append(acknowledged(idOf(1), 1))
    }
    await appendFile(dir.join('journal.ndjson'), '{"event":"acknowledged"}\n')
    await using journal = await openJournal(dir)
    await expect(readAll(journal)).rejects.toMatchObject({ code: 'consent-journal' })
  })

  test('that is compacted keeps what says something, in bounded parts, as a new generation', async () => {
    await using dir = await tempDir('journal')
    const path = dir.join('journal.ndjson')
    const other = (
      event: 'failed' | 'unconfirmed' | 'retry' | 'drop',
      index: number,
      sequence: number,
    ): JournalEntry => {
      return { event, id: idOf(index), position: at(sequence), at: sequence }
    }
    let prefix: string
    {
      await using journal = await openJournal(dir)
      prefix = journal.prefix
      const entries: JournalEntry[] = []
      for (let sequence = 1; sequence <= 20; sequence++) {
        for (let index = 0; index < 50; index++) entries.push(acknowledged(idOf(index), sequence))
      }
      entries.push(other('unconfirmed', 0, 30), other('unconfirmed', 0, 30), other('failed', 0, 31))
      entries.push(other('unconfirmed', 1, 30), acknowledged(idOf(1), 30))
      entries.push(other('unconfirmed', 2, 30), other('retry', 2, 30))
      entries.push(other('unconfirmed', 3, 30), other('drop', 3, 30), acknowledged(idOf(3), 7))
      await Promise.all(entries.map((entry) => journal.append(entry)))
    }
    const bytes = await compactJournal({ path, identity, partBytes: 20_000 })
    await using journal = await openJournal(dir, { compactAfterBytes: 1 })
    expect(journal.bytes).toBe(bytes)
    expect(journal.prefix).not.toBe(prefix)
    const all = await readAll(journal)
    const ofIndex = (index: number) => all.filter(({ id }) => id === idOf(index))
    expect(ofIndex(0)).toEqual([
      acknowledged(idOf(0), 20),
      other('unconfirmed', 0, 30),
      other('failed', 0, 31),
    ])
    expect(ofIndex(1)).toEqual([acknowledged(idOf(1), 30)])
    expect(ofIndex(2)).toEqual([acknowledged(idOf(2), 20), other('failed', 2, 30)])
    expect(ofIndex(3)).toEqual([other('drop', 3, 30)])
    expect(all.length).toBe(3 + 1 + 2 + 1 + 46)
  })

  test('that has grown is compacted at the next start, and not before it has grown again', async () => {
    await using dir = await tempDir('journal')
    {
      await using journal = await openJournal(dir)
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => journal.append(acknowledged(idOf(index % 5), index))),
      )
    }
    const before = (await stat(dir.join('journal.ndjson'))).size
    let prefix: string
    {
      await using journal = await openJournal(dir, { compactAfterBytes: 1_000 })
      expect(journal.bytes).toBeLessThan(before / 5)
      prefix = journal.prefix
    }
    await using journal = await openJournal(dir, { compactAfterBytes: 1_000 })
    expect(journal.prefix).toBe(prefix)
  })
})

describe('ids', () => {
  test('are the same for all spellings, in all processes of a state folder, and show no address', async () => {
    await using dir = await tempDir('key')
    await using elsewhere = await tempDir('key')
    const [one, other] = await Promise.all([openConsentKey(dir.path), openConsentKey(dir.path)])
    expect(one.idOf(' Anna@Example.ORG ')).toBe(other.idOf('anna@example.org'))
    expect(one.idOf('anna@example.org')).toMatch(/^[\w-]{22}$/)
    expect((await stat(dir.join('consents.key'))).mode & 0o777).toBe(0o600)
    const foreign = await openConsentKey(elsewhere.path)
    expect(foreign.idOf('anna@example.org')).not.toBe(one.idOf('anna@example.org'))
    expect(foreign.fingerprint).not.toBe(one.fingerprint)
    await writeFile(dir.join('consents.key'), 'short\n')
    await expect(openConsentKey(dir.path)).rejects.toMatchObject({ code: 'consent-key' })
  })

  test('are never made with another key than those of a journal in the state folder', async () => {
    await using dir = await tempDir('key')
    const [file, folder] = [dir.join('consents.key'), dir.join('shop', 'consents')]
    expect(await findConsentKey(dir.path)).toBeUndefined()
    expect(await readdir(dir.path)).toEqual([])
    const key = await openConsentKey(dir.path)
    await mkdir(folder, { recursive: true })
    await writeFile(
      join(folder, 'acknowledged.ndjson'),
      `${JSON.stringify(newHeader(`${key.fingerprint}.state`))}\n`,
    )
    expect((await findConsentKey(dir.path))?.fingerprint).toBe(key.fingerprint)
    const right = await readFile(file)
    for (const other of [undefined, '5a'.repeat(32)]) {
      await (other === undefined ? rm(file) : writeFile(file, other))
      const before = await readdir(dir.path)
      for (const open of [openConsentKey, findConsentKey]) {
        await expect(open(dir.path)).rejects.toMatchObject({ code: 'consent-key' })
      }
      expect(await readdir(dir.path)).toEqual(before)
    }
    await expect(key.keep()).rejects.toMatchObject({ code: 'consent-key' })
    await rm(file)
    expect([await key.keep(), await key.keep()]).toEqual(['restored', 'present'])
    expect(await readFile(file)).toEqual(right)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })
})

test('positions compare as texts', () => {
  const inOrder = [at(1), at(1, 2), at(1, 10), at(2), at(9, 9), at(10), at(1_000_000, 1)]
  for (const [index, position] of inOrder.entries()) {
    for (const later of inOrder.slice(index + 1)) expect(isLater(later, position)).toBe(true)
    expect(isLater(position, position)).toBe(false)
    expect(parsePosition(position)).toBe(position)
  }
  expect(parsePosition('12')).toBeUndefined()
})
