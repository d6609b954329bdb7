import { formatPayload } from '../alerts/alert-sender.ts'
import { Webhook } from '../alerts/webhook.ts'
import type { AlertsConfig } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'

/** Sends one alert that means nothing. Throws an EndpointError when it was not taken. Returns where it went. */
export async function sendTestAlert(config: AlertsConfig, clock: Clock, signal: AbortSignal) {
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
  return { origin: config.url.value().origin, id: payload.id }
}
