import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { InterruptedError } from '../../src/cli/interrupts.ts'
import { startChild } from '../support/child.ts'
import { leakCheck } from '../support/leak-check.ts'
import { runCli } from './support.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

describe('sandbox', () => {
  it('serves until it is interrupted, and ends well', async () => {
    const interrupt = new AbortController()
    const { promise: started, resolve } = Promise.withResolvers<string>()
    const argv = ['sandbox', '--port', '0', '--products-token', 'mine', '--json']
    const running = runCli(argv, { signal: interrupt.signal, onOutput: resolve })
    const { url, ...printed } = JSON.parse(await started) as { url: string }
    expect(printed).toEqual({
      productsToken: 'mine',
      emailToken: 'sandbox-email-token',
      intentToken: 'sandbox-intent-token',
      stackToken: 'sandbox-stack-token',
      stackName: 'sandbox',
    })
    const answer = await fetch(`${url}/v1/products/upsert`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(':mine')}`,
        'content-type': 'application/json',
        connection: 'close',
      },
      body: '[]',
    })
    await answer.text()
    expect(answer.status).toBe(200)
    interrupt.abort(new InterruptedError('SIGINT'))
    expect((await running).exitCode).toBe(0)
  })

  it('ends with code 0 on SIGTERM as a process', async () => {
    await using child = await startChild('src/main.ts', { args: ['sandbox', '--port', '0'] })
    await child.line('The sandbox takes product upserts at http://127.0.0.1:')
    const ended = child.ended()
    await child.kill('SIGTERM')
    expect(await ended).toEqual({ code: 0, signal: null })
    for (const setting of [
      'API_PRODUCTS_TOKEN=sandbox-token',
      'API_EMAIL_TOKEN=sandbox-email-token',
      'API_LIM_TOKEN=sandbox-intent-token',
      'STACK_ACCESS_TOKEN=sandbox-stack-token STACK_NAME=sandbox',
    ]) {
      expect(child.stdout).toContain(setting)
    }
  })

  it.each([
    [['--port', '70000'], 'Expected a whole number from 0 to 65535'],
    [['--latency', 'soon'], 'Expected milliseconds, or a duration'],
    [['--rate', '450'], 'Expected requests and a duration, such as 450/900s'],
    [['--rate', '0/2s'], 'Expected requests and a duration'],
    [['--rate', '450/soon'], 'Expected requests and a duration'],
  ])('refuses %j', async (options, message) => {
    const { exitCode, stderr } = await runCli(['sandbox', ...options])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
  })
})
