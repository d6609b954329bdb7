import { execFileSync } from 'node:child_process'
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { claimFile, putBack } from '../../src/sources/claim-file.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

async function seen(path: string) {
  const { size, mtimeMs, ino } = await lstat(path)
  return { size, mtimeMs, inode: ino }
}

async function claim(dir: TempDir, looked: Awaited<ReturnType<typeof seen>>, takesChanged = false) {
  const result = await claimFile({
    from: Buffer.from(dir.join('x.csv')),
    to: dir.join('claimed'),
    seen: looked,
    takesChanged,
  })
  return { result, names: (await readdir(dir.path)).sort() }
}

// What a drop folder shows at one moment may be something else when it is claimed.
describe('claiming a file', () => {
  it('takes what is as it was seen', async () => {
    await using dir = await tempDir()
    await writeFile(dir.join('x.csv'), 'content')
    expect(await claim(dir, await seen(dir.join('x.csv')))).toEqual({
      result: { kind: 'claimed', bytes: 7 },
      names: ['claimed'],
    })
  })

  it('leaves what has changed, unless it need not settle', async () => {
    await using dir = await tempDir()
    await writeFile(dir.join('x.csv'), 'content')
    const looked = await seen(dir.join('x.csv'))
    await writeFile(dir.join('x.csv'), 'content and more')
    expect(await claim(dir, looked)).toEqual({ result: { kind: 'changed' }, names: ['x.csv'] })
    expect(await claim(dir, looked, true)).toEqual({
      result: { kind: 'claimed', bytes: 16 },
      names: ['claimed'],
    })
  })

  it('takes nothing where nothing is any more', async () => {
    await using dir = await tempDir()
    await writeFile(dir.join('y.csv'), '')
    expect((await claim(dir, await seen(dir.join('y.csv')))).result).toEqual({ kind: 'gone' })
  })

  it.each(['link', 'pipe', 'folder'])('leaves a %s that has taken the place of a file', async (kind) => {
    await using dir = await tempDir()
    await writeFile(dir.join('secret'), 'secret')
    const path = dir.join('x.csv')
    if (kind === 'link') await symlink(dir.join('secret'), path)
    else if (kind === 'pipe') execFileSync('mkfifo', [path])
    else await mkdir(path)
    const { result, names } = await claim(dir, await seen(dir.join('secret')), true)
    expect(result).toEqual({ kind: 'not-regular' })
    expect(names).toEqual(['secret', 'x.csv'])
  })
})

describe('putting a claim back', () => {
  it('restores the name', async () => {
    await using dir = await tempDir()
    await writeFile(dir.join('claimed'), 'content')
    expect(await putBack(dir.join('claimed'), Buffer.from(dir.join('x.csv')))).toBe(true)
    expect(await readdir(dir.path)).toEqual(['x.csv'])
  })

  it('never overwrites what has taken the name since', async () => {
    await using dir = await tempDir()
    await writeFile(dir.join('claimed'), 'old')
    await writeFile(dir.join('x.csv'), 'new')
    expect(await putBack(dir.join('claimed'), Buffer.from(dir.join('x.csv')))).toBe(false)
    expect(await readFile(dir.join('x.csv'), 'utf8')).toBe('new')
    expect(await readFile(dir.join('claimed'), 'utf8')).toBe('old')
  })

  it('puts back a folder, too', async () => {
    await using dir = await tempDir()
    await mkdir(dir.join('claimed'))
    expect(await putBack(dir.join('claimed'), Buffer.from(dir.join('x.csv')))).toBe(true)
    expect(await readdir(dir.path)).toEqual(['x.csv'])
  })
})
