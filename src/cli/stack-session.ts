import type { StackClient } from '../api/stack-client.ts'
import type { CommandContext } from './context.ts'

/** Runs `work` with the client of the configured Stack; says when it waits for the rate limit. */
export async function withStack<T>(
  context: CommandContext,
  work: (client: StackClient) => Promise<T>,
): Promise<T> {
  const { openStack } = await import('../operations/stack-access.ts')
  const { config } = await context.loadedConfig()
  await using client = openStack({
    config,
    clock: context.clock,
    onWait: ({ waitMs }) => context.note(`The service allows no more calls for ${seconds(waitMs)}: waiting.`),
  })
  return await work(client)
}

function seconds(delayMs: number): string {
  return `${Math.ceil(delayMs / 1000)} s`
}

export const dirOption = {
  flags: '--dir <folder>',
  description: 'where rules.yaml, moderation-views.yaml, terms.yaml and users.yaml are',
  default: 'stack',
}
