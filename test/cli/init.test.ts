import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../support/temp-dir.ts'
import { runCli } from './support.ts'

describe('init', () => {
  it('writes a configuration that passes config check, and its folders', async () => {
    await using folder = await tempDir('init')
    const created = await runCli(['init', folder.path])
    expect(created).toMatchObject({ exitCode: 0, stderr: '' })
    expect(created.stdout).toContain(folder.join('config/catalogd.yaml'))
    expect((await readdir(folder.path)).sort()).toEqual(['config', 'drop'])
    // For secrets: read by nobody else.
    expect((await stat(folder.join('config/.env'))).mode & 0o777).toBe(0o600)
    expect((await readdir(folder.join('drop'))).sort()).toEqual(['products', 'stock'])

    const env = { CATALOG_API_URL: 'http://127.0.0.1:8490', API_PRODUCTS_TOKEN: 't' }
    const checked = await runCli(
      ['config', 'check', '--config', folder.join('config/catalogd.yaml'), '--json'],
      { env },
    )
    expect(JSON.parse(checked.stdout)).toMatchObject({ valid: true, notes: [] })
  })

  it('answers JSON', async () => {
    await using folder = await tempDir('init')
    const { stdout } = await runCli(['init', folder.join('new'), '--json'])
    expect(JSON.parse(stdout)).toEqual({
      config: folder.join('new/config/catalogd.yaml'),
      dropFolders: [folder.join('new/drop/products'), folder.join('new/drop/stock')],
    })
  })

  it.each(['config/catalogd.yaml', 'catalogd.yaml'])('never overwrites %s', async (name) => {
    await using folder = await tempDir('init')
    await mkdir(folder.join('config'))
    await writeFile(folder.join(name), 'mine')
    const { exitCode, stderr } = await runCli(['init', folder.path])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`${folder.join(name)} exists already and is left as it is`)
    expect(await readFile(folder.join(name), 'utf8')).toBe('mine')
    await expect(stat(folder.join('drop'))).rejects.toThrow('ENOENT')
  })

  it('says when it cannot write', async () => {
    await using folder = await tempDir('init')
    await writeFile(folder.join('file'), '')
    const { exitCode, stderr } = await runCli(['init', folder.join('file')])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(
      `${folder.join('file/config/catalogd.yaml')} and its folders cannot be written (ENOTDIR)`,
    )
  })
})
