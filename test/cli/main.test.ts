import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { startChild } from '../support/child.ts'
import { tempDir } from '../support/temp-dir.ts'

const run = promisify(execFile)
const main = new URL('../../src/main.ts', import.meta.url)
const systemNode = '/usr/bin/node'

/** Undefined when there is none that is too old. */
function oldNode(): string | undefined {
  if (!existsSync(systemNode)) return undefined
  const version = execFileSync(systemNode, ['--version'], { encoding: 'utf8' })
  return Number.parseInt(version.slice(1), 10) < 24 ? version.trim() : undefined
}

const old = oldNode()

describe('main', () => {
  it('runs a command and ends with its code', async () => {
    const { stdout } = await run(process.execPath, [main.pathname, '--version'])
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    await expect(run(process.execPath, [main.pathname, 'nothing'])).rejects.toMatchObject({ code: 2 })
  })

  it('finds the configuration in the usual places', async () => {
    await using folder = await tempDir('main')
    const config = 'catalogs: { main: { api: { url: "", productsToken: x }, feeds: { f: { drop: ./d } } } }\n'
    const check = () => run(process.execPath, [main.pathname, 'config', 'check'], { cwd: folder.path })
    await expect(check()).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('catalogd init') })
    await writeFile(folder.join('catalogd.yaml'), config)
    expect((await check()).stdout).toContain('catalogd.yaml is correct')
    await mkdir(folder.join('config'))
    await writeFile(folder.join('config/catalogd.yaml'), config)
    expect((await check()).stdout).toContain('config/catalogd.yaml is correct')
  })

  it.runIf(process.platform === 'linux')('keeps addresses out of lists of processes', async () => {
    const file = new URL('../../src/cli/process.ts', import.meta.url)
    const script = `import { runProcess } from ${JSON.stringify(file.href)}
      import { readFileSync } from 'node:fs'
      await runProcess(['consent', 'anna@person.example', 'perhaps'])
      console.log(readFileSync('/proc/self/cmdline', 'utf8').split('\\0')[0])`
    const argv = ['--input-type=module', '-e', script, 'anna@person.example']
    expect((await run(process.execPath, argv)).stdout).toBe('catalogd\n')
  })

  it('ends quietly when nobody reads its output', async () => {
    // The reader is gone before the first byte is written.
    const pipeline = `"${process.execPath}" "${main.pathname}" config schema | true`
    expect(await run('sh', ['-c', pipeline])).toEqual({ stdout: '', stderr: '' })
  })

  it('ends at once on a later signal; one that follows at once belongs to the first', async () => {
    await using folder = await tempDir('main')
    const script = folder.join('stubborn.mjs')
    const interrupts = new URL('../../src/cli/interrupts.ts', import.meta.url)
    await writeFile(
      script,
      `import { openInterrupts } from ${JSON.stringify(interrupts.href)}
       let now = 0
       process.on('SIGTERM', () => console.log('SIGTERM came'))
       const { signal } = openInterrupts(process, { monotonic: () => now })
       process.stdin.on('data', () => { now = 5000; console.log('later') })
       signal.addEventListener('abort', () => console.log('asked: ' + signal.reason.message))
       setInterval(() => {}, 1000)
       console.log('ready')`,
    )
    await using child = await startChild(script)
    await child.line('ready')
    const ended = child.ended()
    process.kill(child.pid, 'SIGINT')
    await child.line('asked: interrupted by SIGINT')
    process.kill(child.pid, 'SIGTERM')
    await child.line('SIGTERM came')
    child.send('time passes')
    await child.line('later')
    process.kill(child.pid, 'SIGTERM')
    expect(await ended).toEqual({ code: 143, signal: null })
  })

  it.skipIf(old === undefined)('says in one line which Node it needs, to an older Node', async () => {
    await using folder = await tempDir('main')
    // What tsc publishes is this: the types gone, .ts in import specifiers become .js.
    const compiled = stripTypeScriptTypes(await readFile(main, 'utf8')).replaceAll(".ts'", ".js'")
    await writeFile(folder.join('main.mjs'), compiled)
    await expect(run(systemNode, [folder.join('main.mjs'), 'start'])).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: `catalogd needs Node 24 or later; this is Node ${old?.slice(1)} (${systemNode})\n`,
    })
  })
})
