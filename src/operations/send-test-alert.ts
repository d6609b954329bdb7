import { formatPayload } from '../alerts/alert-sender.ts'
import { Webhook } from '../alerts/webhook.ts'
import type { AlertsConfig } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import { ConfigError } from '../lib/errors.ts'

/** Sends one alert that means nothing. Throws an EndpointError when it was not taken. Returns where it went. */
export async function sendTestAlert(config: AlertsConfig | undefined, clock: Clock, signal: AbortSignal) {
  if (config?.url === undefined) {
    throw new ConfigError('alerts-none', 'the configuration names no webhook for alerts', {
      hint: 'Give alerts.url a value',
    })
  }
  const { origin } = config.url.value()
  const sinceMs = clock.now()
  const payload = formatPayload(
    {
      id: `test:${new Date(sinceMs).toISOString()}`,
      state: 'firing',
      sinceMs,
      condition: {
        ...{ kind: 'test', subject: 'test', severity: 'warning' },
        message: 'This is a test: catalogd can reach this webhook',
        hint: 'Nothing has to be done',
      },
    },
    clock,
  )
  await using webhook = new Webhook(config)
  await webhook.send(payload, signal)
  return { origin, id: payload.id }
}
