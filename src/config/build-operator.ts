import { Access, type AccessContext } from './build-access.ts'
import { parseDuration } from './duration.ts'
import { parseListenAddress } from './listen-address.ts'
import type { AlertsConfig, ConsoleConfig } from './model.ts'
import type { ConfigInput } from './schema.ts'
import { parseSize } from './size.ts'

/** Undefined: the daemon listens nowhere. */
export function buildConsole(
  input: ConfigInput['console'],
  context: AccessContext,
): ConsoleConfig | undefined {
  if (!input?.listen) return undefined
  const { listen, token, tokenFile, hosts, maxBytes } = input
  const access = new Access(context, ['console'])
  return {
    listen: checked(parseListenAddress(listen)),
    token: token || tokenFile !== undefined ? access.token('token', token, tokenFile) : undefined,
    hosts: hosts.map((name) => name.toLowerCase()),
    bytesMax: checked(parseSize(maxBytes)),
  }
}

/** Undefined: nobody is told. */
export function buildAlerts(input: ConfigInput['alerts'], context: AccessContext): AlertsConfig | undefined {
  if (!input?.url) return undefined
  const { url, headers, every, urgentLag } = input
  const ofHeaders = new Access(context, ['alerts', 'headers'])
  return {
    url: new Access(context, ['alerts']).url(url),
    headers: Object.entries(headers).map(([name, value]) => ({ name, value: ofHeaders.text(name, value) })),
    everyMs: checked(parseDuration(every)),
    urgentLagMs: checked(parseDuration(urgentLag)),
  }
}

/** The schema has accepted the value, so that its parser knows it. */
function checked<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a checked value of the configuration cannot be converted')
  return value
}
