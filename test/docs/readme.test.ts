import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { freePort } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { blocks, readPage, section } from './pages.ts'

// The commands that somebody copies first, out of the README, in a real shell.

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

it('the README leads from a file to products in the sandbox', async () => {
  await using folder = await tempDir('docs-readme')
  await writeFile(folder.join('my-export.csv'), blocks('csv', readPage('getting-started.md'))[0] ?? '')
  const port = await freePort()
  const [commands = ''] = blocks('sh', section('README.md', '## Your own feed'))
  const script = [
    // Where it stands for a function, what runs in the background is a shell that would leave the sandbox behind.
    "trap 'kill $(jobs -p); wait' EXIT",
    `catalogd() { node ${root}src/main.ts "$@"; }`,
    commands
      .replace(/^alias .*\n/m, '')
      .replaceAll('../', `${folder.path}/`)
      .replaceAll('8490', String(port))
      .replace('catalogd sandbox', `node ${root}src/main.ts sandbox --port ${port}`),
    `curl -s http://127.0.0.1:${port}/sandbox/products`,
  ].join('\n')
  const { stdout } = await run('bash', ['-c', script], { cwd: root })
  expect(stdout).toMatch(/^records +4: 2 added/m)
  expect(stdout).toContain('"product_id":"100-1"')
})
