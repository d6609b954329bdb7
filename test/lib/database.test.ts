import { copyFile, stat, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Database } from '../../src/lib/database.ts'
import { explained } from '../../src/lib/database-failure.ts'
import { fileIdentity, isSameFile } from '../../src/lib/database-file.ts'
import { syncFolder, syncFolderNow } from '../../src/lib/system.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

let folder: TempDir
beforeEach(async () => {
  folder = await tempDir('database')
})
afterEach(() => folder[Symbol.asyncDispose]())

function open(access: 'read' | 'write' = 'write', name = 'words.db') {
  const database = Database.open({ file: folder.join(name), access })
  if (access === 'write') database.exec('CREATE TABLE IF NOT EXISTS words (word TEXT PRIMARY KEY)')
  return database
}

const add = (database: Database, word: string) => database.run('INSERT INTO words VALUES (?)', word)
const words = (database: Database) => database.all<{ word: string }>('SELECT word FROM words')

test('a database is made for its user alone, and read beside its writer', async () => {
  using first = open()
  first.transaction(() => add(first, 'one'))
  for (const end of ['', '-wal', '-shm']) expect((await stat(first.file + end)).mode & 0o777).toBe(0o600)
  using reader = open('read')
  expect(words(reader)).toEqual([{ word: 'one' }])
  expect(() => reader.exec('DELETE FROM words')).toThrow()
})

test('a full disk is told from a broken one, also where the index of the log cannot grow', () => {
  const codeOf = (errcode: number) => {
    const fail = () => {
      throw Object.assign(new Error('disk I/O error'), { errcode })
    }
    return () => explained('words.db', fail)
  }
  for (const full of [13, 4874]) expect(codeOf(full)).toThrow(/disk is full/)
  expect(codeOf(778)).toThrow(/cannot be read or written/)
})

test('a transaction is there whole, or not at all', () => {
  using database = open()
  const both = (word: string) => database.transaction(() => [add(database, 'one'), add(database, word)])
  expect(() => both('one')).toThrow(/UNIQUE/)
  expect(words(database)).toEqual([])
  both('two')
  expect(words(database)).toEqual([{ word: 'one' }, { word: 'two' }])
})

test('a file that is no database is refused with what to do; a bug is no trouble of the disk', async () => {
  await writeFile(folder.join('text.db'), 'no database at all '.repeat(100))
  const damaged = { code: 'database-damaged', hint: expect.stringContaining('catalogd restore') }
  expect(() => open('write', 'text.db')).toThrow(expect.objectContaining(damaged))
  using database = open()
  expect(() => database.exec('nonsense')).toThrow(/syntax error/)
})

test('a copy has another identity, whatever stands in it', async () => {
  using database = open()
  const before = fileIdentity(database.file)
  add(database, 'one')
  expect(isSameFile(fileIdentity(database.file), before)).toBe(true)
  await copyFile(database.file, folder.join('copy.db'))
  expect(isSameFile(fileIdentity(folder.join('copy.db')), before)).toBe(false)
})

test('a folder of a file system that cannot sync folders is passed over', async () => {
  // It refuses with EINVAL.
  await syncFolder('/proc')
  syncFolderNow('/proc')
  expect(() => syncFolderNow(folder.join('missing'))).toThrow('ENOENT')
})
