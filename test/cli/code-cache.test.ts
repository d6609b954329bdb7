import { execFile } from 'node:child_process'
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
  const [notes, own, ...others] = await readdir(dir.join('catalogd'))
  expect([notes, others]).toEqual(['notes', []])
  expect(own).toContain(process.version)
  expect(await readdir(dir.join(`catalogd/${own}`))).not.toEqual([])
})

test('a folder that somebody else has named is left alone', async () => {
  await using dir = await cacheWithLeftovers()
  await startHelp({ XDG_CACHE_HOME: dir.path, NODE_COMPILE_CACHE: dir.join('other') })
  expect(await readdir(dir.join('catalogd'))).toContain('v22.1.0-x64-00000000-0')
})
