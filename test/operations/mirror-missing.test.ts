import { readdir, rm, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { runCli } from '../cli/support.ts'
import { tempDir } from '../support/temp-dir.ts'

const config = `state: ./state
catalogs:
  main:
    api: { url: "http://127.0.0.1:1", productsToken: p }
    feeds: { shop: { drop: ./shop } }
`

test('a manifest with lines and no mirror beside it is refused, by who reads and by who writes', async () => {
  await using dir = await tempDir('missing')
  const [file, configFile] = [dir.join('shop.csv'), dir.join('catalogd.yaml')]
  await writeFile(configFile, config)
  await writeFile(file, 'product_id,name\n1,One\n')
  const run = (...argv: string[]) => runCli([...argv, '--config', configFile, '--json'])
  // What was never begun is empty, and stays untouched.
  expect((await run('diff', 'shop', file)).stdout).toContain('"incomplete":1')
  expect(await readdir(dir.path)).toEqual(['catalogd.yaml', 'shop.csv'])
  const loaded = await run('load', 'shop', file, '--no-wait')
  expect(loaded, loaded.stderr).toMatchObject({ exitCode: 0 })
  expect((await run('diff', 'shop', file)).stdout).toContain('"unchanged":1')
  for (const end of ['', '-wal', '-shm']) await rm(dir.join(`state/main/catalog.db${end}`), { force: true })
  for (const argv of [['diff', 'shop', file], ['status'], ['load', 'shop', file, '--no-wait'], ['pause']]) {
    const { exitCode, stderr } = await run(...argv)
    expect([argv[0], exitCode, stderr]).toEqual([argv[0], 4, expect.stringContaining('"mirror-missing"')])
  }
  expect(await readdir(dir.join('state/main'))).not.toContain('catalog.db')
})
