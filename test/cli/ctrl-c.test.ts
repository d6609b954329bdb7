import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isRunning } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { tempDir } from '../support/temp-dir.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const hasScript = existsSync('/usr/bin/script') && process.platform === 'linux'

// `script` gives the command a terminal of its own, which signals all processes of it at Ctrl-C.
test.skipIf(!hasScript)('Ctrl-C on npm run ends the daemon well, and its Redis with it', async () => {
  await using dir = await tempDir('ctrl-c')
  const config = dir.join('catalogd.yaml')
  await writeFile(
    config,
    `state: ./state
catalogs:
  main:
    api: { url: "http://127.0.0.1:1", productsToken: t }
    feeds:
      products: { drop: ./drop }
`,
  )
  const command = `npm run -s catalogd -- start --config ${config}`
  const terminal = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
    cwd: checkout,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
  })
  const closed = once(terminal, 'close')
  await waitFor(() => shown.includes('watching and importing'), { what: () => shown })
  const [pid] = (await readFile(dir.join('state', 'redis', 'server'), 'utf8')).split('\n')
  expect(await isRunning(Number(pid))).toBe(true)
  terminal.stdin.write('\x03')
  await closed
  expect(shown).toContain('ended the embedded Redis')
  expect(shown).toContain('catalogd has ended')
  expect(await isRunning(Number(pid))).toBe(false)
})
