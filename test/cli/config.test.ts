import { mkdir, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { CommandDefinition } from '../../src/cli/context.ts'
import { ExitCode } from '../../src/lib/errors.ts'
import { tempDir } from '../support/temp-dir.ts'
import { runCli } from './support.ts'

const text = `
console: { listen: 127.0.0.1:8480 }
catalogs:
  main:
    api: { url: https://api.example, productsToken: "\${TOKEN}" }
    feeds:
      products:
        drop: ./drop
        fields: { product_id: sku, price: price, availability: stock }
      stock:
        drop: ./stock
        mode: delta
        fields: { product_id: sku, availability: qty }
        owns: [availability]
`

describe('config check', () => {
  it('shows feeds, who writes what, and what is not there yet', async () => {
    await using folder = await tempDir('cli')
    await mkdir(folder.join('drop'))
    const file = folder.join('shop.yaml')
    await writeFile(file, text)
    const { exitCode, stdout, stderr } = await runCli(['config', 'check', '--config', file])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toContain(`${file} is correct: 1 catalog, 2 feeds.`)
    expect(stdout).toMatch(/products {2}full {3}\* {6}\/.*\/drop\n {2}stock {5}delta/)
    expect(stdout).toContain('availability  stock (owns it), then products')
    expect(stdout).toContain('the environment variable TOKEN is not set')
    expect(stdout).toContain('catalogs.main.feeds.stock.drop:')
    expect(stdout).not.toContain('catalogs.main.feeds.products.drop:')

    const json = await runCli(['config', 'check', '--json'], { env: { CATALOGD_CONFIG: file, TOKEN: 't' } })
    expect(JSON.parse(json.stdout)).toEqual({
      file,
      valid: true,
      catalogs: [
        {
          name: 'main',
          feeds: [
            {
              name: 'products',
              kind: 'products',
              drop: folder.join('drop'),
              pull: null,
              files: [{ pattern: '*', mode: 'full' }],
            },
            {
              name: 'stock',
              kind: 'products',
              drop: folder.join('stock'),
              pull: null,
              files: [{ pattern: '*', mode: 'delta' }],
            },
          ],
          overlaps: [{ field: 'availability', feeds: ['stock', 'products'], owned: true }],
        },
      ],
      notes: [expect.stringContaining('stock does not exist')],
    })
  })

  it('reports all problems, as text and as JSON', async () => {
    await using folder = await tempDir('cli')
    const file = folder.join('shop.yaml')
    await writeFile(file, text.replace('mode: delta', 'mod: delta').replace('price: price', 'prise: price'))
    const plain = await runCli(['config', 'check', '--config', file])
    expect(plain).toMatchObject({ exitCode: 2, stdout: '' })
    expect(plain.stderr).toContain(
      `${file}:9:36 catalogs.main.feeds.products.fields.prise: is no product field; did you mean "price"?`,
    )
    expect(plain.stderr).toContain(
      `${file}:12:9 catalogs.main.feeds.stock.mod: found an unknown key; did you mean "mode"?`,
    )
    const json = await runCli(['config', 'check', '--json', '--config', file])
    expect(json).toMatchObject({ exitCode: 2, stderr: '' })
    expect(JSON.parse(json.stdout)).toEqual({
      file,
      valid: false,
      problems: [
        {
          file,
          line: 9,
          column: 36,
          path: 'catalogs.main.feeds.products.fields.prise',
          message: expect.anything(),
        },
        { file, line: 12, column: 9, path: 'catalogs.main.feeds.stock.mod', message: expect.anything() },
      ],
    })
  })

  it('says which file it misses', async () => {
    const missing = await runCli(['config', 'check', '--config', '/none/catalogd.yaml', '--json'])
    expect(missing.exitCode).toBe(2)
    expect(JSON.parse(missing.stderr)).toMatchObject({
      error: { code: 'config-missing', message: '/none/catalogd.yaml does not exist' },
    })
  })
})

describe('config print and config schema', () => {
  it('print what counts, without secrets', async () => {
    await using folder = await tempDir('cli')
    const file = folder.join('shop.yaml')
    await writeFile(file, text)
    const options = { env: { TOKEN: 's3cret' } }
    const yaml = await runCli(['config', 'print', '--config', file], options)
    expect(yaml.stdout).not.toContain('s3cret')
    const json = await runCli(['config', 'print', '--config', file, '--json'], options)
    expect(JSON.parse(json.stdout)).toEqual(parse(yaml.stdout))
    expect(JSON.parse(json.stdout)).toMatchObject({ catalogs: { main: { delivery: { horizon: '2m' } } } })
  })

  it('need no configuration for the schema', async () => {
    const { exitCode, stdout } = await runCli(['config', 'schema'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ title: 'catalogd configuration' })
  })
})

describe('--catalog', () => {
  const nameCommand: CommandDefinition = {
    usage: 'name',
    summary: 'name the catalog',
    examples: ['catalogd name'],
    async run(context) {
      const { name } = await context.catalog()
      context.print({ name }, () => name)
      return ExitCode.done
    },
  }

  it('chooses one; without it the only one is chosen', async () => {
    await using folder = await tempDir('cli')
    const one = folder.join('one.yaml')
    const two = folder.join('two.yaml')
    const catalog = (name: string) =>
      `  ${name}: { api: { url: "", productsToken: x }, feeds: { f: { drop: ./${name} } } }\n`
    await writeFile(one, `catalogs:\n${catalog('europe')}`)
    await writeFile(two, `catalogs:\n${catalog('europe')}${catalog('america')}`)
    const name = (...argv: string[]) => runCli(['name', ...argv], { commands: [nameCommand] })
    expect((await name('--config', one)).stdout).toBe('europe\n')
    expect((await name('--config', two, '--catalog', 'america')).stdout).toBe('america\n')
    expect(await name('--config', two)).toMatchObject({
      exitCode: 2,
      stderr: 'the configuration has several catalogs: europe, america\nChoose one with --catalog\n',
    })
    expect((await name('--config', two, '--catalog', 'amerika')).stderr).toContain('did you mean "america"?')
  })
})
