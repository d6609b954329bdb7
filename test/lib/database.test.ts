import { copyFile, stat, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase, openDatabaseReader, transaction } from '../../src/lib/database.ts'
import { explained } from '../../src/lib/database-failure.ts'
import { fileIdentity, isSameFile } from '../../src/lib/database-file.ts'
import { GroupCommit } from '../../src/lib/group-commit.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

const schema = 'CREATE TABLE words (word TEXT PRIMARY KEY)'

let folder: TempDir
beforeEach(async () => {
  folder = await tempDir('database')
})
afterEach(() => folder[Symbol.asyncDispose]())

function open(name = 'words.db') {
  const path = folder.join(name)
  const { db, isNew } = openDatabase({ path, format: 3, schema })
  const words = () =>
    db
      .prepare('SELECT word FROM words')
      .all()
      .map(({ word }) => word)
  const add = (word: string) => db.prepare('INSERT INTO words VALUES (?)').run(word)
  return { path, db, isNew, words, add, [Symbol.dispose]: () => db.close() }
}

test('a database is made once, for its user alone, and read beside its writer', async () => {
  const path = folder.join('words.db')
  expect(openDatabaseReader({ path, format: 3 })).toBeUndefined()
  using first = open()
  expect(first.isNew).toBe(true)
  transaction(first.db, () => first.add('one'))
  for (const end of ['', '-wal', '-shm']) expect((await stat(path + end)).mode & 0o777).toBe(0o600)
  const reader = openDatabaseReader({ path, format: 3 })
  expect(reader?.prepare('SELECT count(*) AS n FROM words').get()?.n).toBe(1)
  expect(() => reader?.exec('DELETE FROM words')).toThrow()
  reader?.close()
  using second = open()
  expect([second.isNew, second.words()]).toEqual([false, ['one']])
})

test('a newer format and a file that is no database are refused with what to do', async () => {
  const { path, db } = open()
  db.exec('PRAGMA user_version = 4')
  db.close()
  const newer = { code: 'database-format', hint: expect.stringContaining('newer version') }
  expect(() => openDatabase({ path, format: 3, schema })).toThrow(expect.objectContaining(newer))
  expect(() => openDatabaseReader({ path, format: 3 })).toThrow(expect.objectContaining(newer))
  await writeFile(folder.join('text.db'), 'no database at all '.repeat(100))
  expect(() => open('text.db')).toThrow(expect.objectContaining({ code: 'database-damaged' }))
})

test('a bug is no trouble of the disk', () => {
  using words = open()
  expect(() => explained(words.path, () => words.db.exec('nonsense'))).toThrow(/syntax error/)
})

test('a copy has another identity, whatever stands in it', async () => {
  using words = open()
  const before = fileIdentity(words.path)
  words.add('one')
  expect(isSameFile(fileIdentity(words.path), before)).toBe(true)
  await copyFile(words.path, folder.join('copy.db'))
  expect(isSameFile(fileIdentity(folder.join('copy.db')), before)).toBe(false)
})

test('changes that are asked for together are one transaction: all of them, or none', async () => {
  using words = open()
  const commits = new GroupCommit(words.db, words.path)
  let transactions = 0
  commits.beforeEach = () => {
    transactions += 1
  }
  await Promise.all(['one', 'two', 'three'].map((word) => commits.commit(() => words.add(word))))
  expect([transactions, words.words().length]).toEqual([1, 3])
  const failed = await Promise.allSettled(
    ['four', 'one'].map((word) => commits.commit(() => words.add(word))),
  )
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(words.words().length).toBe(3)
  const last = commits.commit(() => words.add('last'))
  commits[Symbol.dispose]()
  await last
  await expect(commits.commit(() => words.add('late'))).rejects.toThrow('was closed')
  expect(words.words()).toContain('last')
})

test('a change waits for others that are on their way, and no longer once they have come', async () => {
  using words = open()
  const commits = new GroupCommit(words.db, words.path)
  let isBusy = true
  commits.isBusy = () => isBusy
  let transactions = 0
  commits.beforeEach = () => {
    transactions += 1
  }
  const first = commits.commit(() => words.add('one'))
  isBusy = false
  await Promise.all([first, commits.commit(() => words.add('two'))])
  expect(transactions).toBe(1)
})
