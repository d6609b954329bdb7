import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Run } from './figure.ts'
import { cpuOfTree } from './process-tree.ts'

const program = fileURLToPath(new URL('../peers/peer-process.ts', import.meta.url))

export interface PeerRun<Answer> extends Run {
  answer: Answer
  peakMegabytes: number
}

/**
 * One run of a peer in a fresh process: its modules are loaded when the clock starts, and nothing else is warm, as in a
 * daemon that has just been started.
 */
export async function runPeer<Answer = unknown>(
  name: string,
  ...args: readonly string[]
): Promise<PeerRun<Answer>> {
  const child = fork(program, [name, ...args])
  const pid = child.pid as number
  await answerOf(child)
  const cpuBefore = cpuOfTree(pid)
  const began = performance.now()
  child.send('go')
  const { answer, peakMegabytes } = (await answerOf(child)) as { answer: Answer; peakMegabytes: number }
  const seconds = (performance.now() - began) / 1000
  const cpuSeconds = cpuOfTree(pid) - cpuBefore
  const exited = once(child, 'exit')
  child.disconnect()
  await exited
  return { seconds, cpuSeconds, peakMegabytes, answer }
}

async function answerOf(child: ReturnType<typeof fork>): Promise<unknown> {
  const ended = new AbortController()
  const exit = once(child, 'exit', ended).then(([code]) => {
    throw new Error(`the peer ended with ${code}`)
  })
  try {
    const [message] = (await Promise.race([once(child, 'message', ended), exit])) as [unknown]
    return message
  } finally {
    exit.catch(() => undefined)
    ended.abort()
  }
}
