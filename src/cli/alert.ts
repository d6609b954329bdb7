import type { CommandDefinition } from './context.ts'

export const alertCommand: CommandDefinition = {
  usage: 'alert',
  summary: 'the webhook that is told when something needs an operator',
  examples: ['catalogd alert test'],
  needsConfigFile: true,
  commands: [
    {
      usage: 'test',
      summary: 'send the webhook one alert that means nothing',
      details: 'Exit code 3: the webhook cannot be reached or does not answer 2xx.',
      examples: ['catalogd alert test'],
      async run(context) {
        const { config } = await context.loadedConfig()
        const { sendTestAlert } = await import('../operations/send-test-alert.ts')
        const sent = await sendTestAlert(config.alerts, context.clock, context.signal)
        context.print(sent, () => `The webhook at ${sent.origin} took a test alert.`)
      },
    },
  ],
}
