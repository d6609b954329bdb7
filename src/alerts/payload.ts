import { hostname } from 'node:os'
import type { Clock } from '../lib/clock.ts'
import { redactText } from '../lib/redact.ts'
import { readVersion } from '../lib/version.ts'
import type { AlertMessage, AlertPayload } from './alert-book.ts'

const textCharactersMax = 2_000

export function formatPayload({ id, state, sinceMs, condition }: AlertMessage, clock: Clock): AlertPayload {
  const { kind, subject, severity, catalog, feed } = condition
  const message = clean(condition.message)
  const hint = clean(condition.hint)
  const host = hostname()
  const where = [catalog, subject === catalog ? undefined : subject].filter(Boolean).join(' ')
  const what = state === 'firing' ? `${message}. ${hint}` : `over: ${message}`
  return {
    id,
    kind,
    subject,
    severity,
    state,
    since: new Date(sinceMs).toISOString(),
    at: new Date(clock.now()).toISOString(),
    message,
    hint,
    ...(catalog === undefined ? {} : { catalog }),
    ...(feed === undefined ? {} : { feed }),
    host,
    version: readVersion(),
    text: `catalogd on ${host}: [${state === 'firing' ? severity : 'resolved'}] ${kind} ${where}: ${what}`,
  }
}

function clean(text: string): string {
  const redacted = redactText(text)
  return redacted.length <= textCharactersMax ? redacted : `${redacted.slice(0, textCharactersMax)}…`
}
