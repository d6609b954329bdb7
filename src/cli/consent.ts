import { ConfigError, ExitCode } from '../lib/errors.ts'
import type { RecordedConsent } from '../operations/record-consent.ts'
import type { CommandDefinition } from './context.ts'
import { openLoadProgress } from './load-progress.ts'
import { withCatalog } from './with-catalog.ts'

export const consentCommand: CommandDefinition<{ wait: boolean }> = {
  usage: 'consent <email> <consent>',
  summary: 'grant (true) or revoke (false) the marketing consent of one customer',
  details:
    'Waits until the endpoint has acknowledged it. When a daemon runs on this state folder it does the work. Exit code 1: the endpoint refused it, see catalogd dead list --consents.',
  examples: ['catalogd consent anna@shop.example false', 'catalogd consent anna@shop.example true --no-wait'],
  options: [{ flags: '--no-wait', description: 'end when it is taken in, without waiting for delivery' }],
  async run(context, { args: [email = '', word = ''], options: { wait: waits } }) {
    const consent = parseConsent(word)
    const { recordConsent } = await import('../operations/record-consent.ts')
    const recorded = await withCatalog(context, async (operation) => {
      using progress = openLoadProgress(context)
      return await recordConsent({ ...operation, email, consent, waits, onProgress: progress.show })
    })
    context.print(recorded, formatRecorded)
    return recorded.state === 'refused' ? ExitCode.data : ExitCode.done
  },
}

function parseConsent(word: string): boolean {
  if (word === 'true' || word === 'false') return word === 'true'
  throw new ConfigError('usage', 'the second argument is neither true nor false', {
    hint: 'Give true to grant, false to revoke',
  })
}

function formatRecorded({ id, consent, state, refusal }: RecordedConsent): string {
  const what = `${consent ? 'Granted' : 'Revoked'} (${id})`
  if (refusal) {
    return `${what}, but refused by the endpoint: ${refusal.reason}\nTo send it once more: catalogd dead retry --consents -- ${id}`
  }
  return state === 'waiting' ? `${what}: taken in, not delivered yet.` : `${what}: the endpoint has taken it.`
}
