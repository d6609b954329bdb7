import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { tempDir } from '../support/temp-dir.ts'

const main = new URL('../../src/main.ts', import.meta.url).pathname

async function startHelp(env: NodeJS.ProcessEnv): Promise<void> {
  await promisify(execFile)(process.execPath, [main, 'start', '--help'], { env })
}

async function cacheWithLeftovers() {
  const dir = await tempDir('code-cache')
  await mkdir(dir.join('catalogd/v22.1.0-x64-00000000-0'), { recursive: true })
  await writeFile(dir.join('catalogd/v22.1.0-x64-00000000-0/a'), '')
  await mkdir(dir.join('catalogd/notes'))
  return dir
}

test('a long command removes the compiled code of other versions of Node', async () => {
  await using dir = await cacheWithLeftovers()
  await startHelp({ XDG_CACHE_HOME: dir.path })
  const names = await readdir(dir.join('catalogd'))
  expect(names).toContain('notes')
  const own = names.filter((name) => name !== 'notes')
  expect(own.filter((name) => !name.startsWith(`${process.version}-`))).toEqual([])
  // What it keeps of its own is there at the next start.
  for (const name of own) await writeFile(dir.join(`catalogd/${name}/kept`), '')
  await startHelp({ XDG_CACHE_HOME: dir.path })
  for (const name of own) expect(await readdir(dir.join(`catalogd/${name}`))).toContain('kept')
})

test('where compiled code has become too much, all of it is removed', async () => {
  await using dir = await cacheWithLeftovers()
  await startHelp({ XDG_CACHE_HOME: dir.path })
  const name = (await readdir(dir.join('catalogd'))).find((each) => each.startsWith('v'))
  const own = dir.join(`catalogd/${name}`)
  for (let index = 0; index <= 10_000; index++) writeFileSync(`${own}/leftover-${index}`, '')
  await startHelp({ XDG_CACHE_HOME: dir.path })
  // A long command is two processes with different flags, and so with two folders. Only one of them is made anew.
  const left = await readdir(own).catch(() => [])
  expect(left.filter((each) => each.startsWith('leftover'))).toEqual([])
})

test('a folder that somebody else has named is left alone', async () => {
  await using dir = await cacheWithLeftovers()
  await startHelp({ XDG_CACHE_HOME: dir.path, NODE_COMPILE_CACHE: dir.join('other') })
  expect(await readdir(dir.join('catalogd'))).toContain('v22.1.0-x64-00000000-0')
})
