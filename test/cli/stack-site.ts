import { writeFile } from 'node:fs/promises'
import { openSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { type Ran, runCli } from './support.ts'

export interface StackSite extends AsyncDisposable {
  config: string
  sandbox: Sandbox
  folder: TempDir
  /** Runs `stack …` with the configuration of this site, and the files in its own folder. */
  stack(argv: readonly string[], options?: Parameters<typeof runCli>[1]): Promise<Ran>
  /** The same with `--json`; throws unless the exit code is 0. */
  json(...argv: string[]): Promise<unknown>
  fault(setting: object): Promise<void>
}

/** A sandbox, and a configuration that names it. */
export async function openStackSite(options: Partial<SandboxOptions> = {}): Promise<StackSite> {
  const folder = await tempDir('stack')
  const sandbox = await openSandbox({
    port: 0,
    productsToken: 'products',
    rate: { requests: 1_000_000, perMs: 900_000 },
    ...options,
  })
  const { url, tokens, stackName } = sandbox
  const config = folder.join('catalogd.yaml')
  await writeFile(
    config,
    JSON.stringify({
      catalogs: {
        main: {
          api: { url, productsToken: tokens.products },
          feeds: { products: { drop: './drop', files: '*.csv', mode: 'full' } },
        },
      },
      stack: { url, accessToken: tokens.stack, name: stackName },
      intent: { url, token: tokens.intent, partnerId: 'tests' },
    }),
  )
  const stack: StackSite['stack'] = (argv, more) => runCli(['stack', ...argv, '--config', config], more)
  return {
    sandbox,
    folder,
    config,
    stack,
    json: async (...argv) => {
      const { exitCode, stdout, stderr } = await stack([...argv, '--json'])
      if (exitCode !== 0) throw new Error(`${argv.join(' ')}: exit code ${exitCode}: ${stderr}`)
      return JSON.parse(stdout)
    },
    fault: async (setting) => {
      const body = JSON.stringify({ group: 'stack', ...setting })
      const { status } = await fetch(`${url}/sandbox/faults`, {
        method: 'POST',
        body,
        headers: { connection: 'close' },
      })
      if (status !== 200) throw new Error(`the fault was answered ${status}`)
    },
    [Symbol.asyncDispose]: async () => {
      await sandbox[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}
