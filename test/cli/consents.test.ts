import { access, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { runCli } from './support.ts'

const withConsents = `catalogs:
  main:
    api: { url: "http://127.0.0.1:1", emailToken: "\${API_EMAIL_TOKEN:-}" }
    feeds:
      letters:
        kind: consents
        drop: ./letters
        fields: { email: Mail, consent: { column: Status, when: { A: true, R: false } } }
`
const withoutConsents = `catalogs:
  main:
    api: { url: "http://127.0.0.1:1", productsToken: p }
    feeds: { shop: { drop: ./shop } }
`
const rows = `Mail,Status
anna@person.example,A
bob@person.example,X
ANNA@person.example,R
carl,A
`

let folder: TempDir
const run = (file: string, ...args: string[]) => runCli([...args, '--config', folder.join(file)])

beforeAll(async () => {
  folder = await tempDir('cli-consents')
  await writeFile(folder.join('with.yaml'), withConsents)
  await writeFile(folder.join('without.yaml'), withoutConsents)
  await writeFile(folder.join('rows.csv'), rows)
})
afterAll(() => folder?.[Symbol.asyncDispose]())

describe('a feed of consents', () => {
  it('is checked without Redis or a token, and no address is shown', async () => {
    const { exitCode, stdout } = await run('with.yaml', 'check', 'letters', folder.join('rows.csv'))
    expect(exitCode).toBe(1)
    expect(stdout).toContain('4 records: 1 good, 2 rejected, 1 record replaced by a later one')
    expect(stdout).toMatch(/record 2, line 3: found the text "X", which no key of when matches/)
    expect(stdout).toMatch(/record 4, line 5: found a text \(not shown\) that is no e-mail address/)
    expect(stdout).not.toContain('person.example')
  })

  it('is refused whole without its columns', async () => {
    await writeFile(folder.join('bare.csv'), 'dora@person.example,A\nemil@person.example,R\n')
    const { exitCode, stdout } = await run('with.yaml', 'check', 'letters', folder.join('bare.csv'))
    expect(exitCode).toBe(1)
    expect(stdout).toContain(
      'Refused: bare.csv: the header has no column "Mail" (for email); "Status" (for consent)',
    )
    expect(stdout).not.toContain('person.example')
  })

  it('is compared with what is known: of nothing, all is new, and nothing is created', async () => {
    const { exitCode, stdout } = await run('with.yaml', 'diff', 'letters', folder.join('rows.csv'), '--json')
    expect(exitCode).toBe(1)
    const [change, last] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(change).toMatchObject({
      productId: 'ANNA@person.example',
      kind: 'added',
      lane: 'urgent',
      fields: [{ field: 'consent', after: false }],
    })
    expect(last.summary).toMatchObject({ records: 4, rejected: 2, changes: { added: 1, superseded: 1 } })
    await expect(access(folder.join('state'))).rejects.toThrow()
  })

  it('stands in the configuration with what it lacks', async () => {
    const { exitCode, stdout } = await run('with.yaml', 'config', 'check')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/letters \(consents\) {2}delta/)
    expect(stdout).toMatch(/api\.emailToken: is empty: deliveries need it/)
    expect(stdout).not.toContain('productsToken')
  })
})

describe('commands about consents', () => {
  it.each([
    ['pause', '--consents'],
    ['resume', '--consents'],
    ['dead', 'list', '--consents'],
    ['dead', 'drop', '--consents', '--all'],
  ])('need some: %s %s %s %s', async (...args) => {
    const { exitCode, stderr } = await run('without.yaml', ...args)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('catalog main has no consents')
    expect(stderr).toContain('catalogs.main.api.emailToken')
  })

  it('are refused where they would send a consent again', async () => {
    for (const args of [
      ['resync', '--consents'],
      ['load', 'letters', folder.join('rows.csv'), '--resend'],
    ]) {
      const { exitCode, stderr } = await run('with.yaml', ...args)
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('consents are never sent again')])
    }
  })

  it('ask for the token before anything is taken in', async () => {
    const { exitCode, stderr } = await run('with.yaml', 'consent', 'anna@person.example', 'true')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('api.emailToken: is empty')])
    await expect(access(folder.join('state/main/inbox'))).rejects.toThrow()
  })
})
