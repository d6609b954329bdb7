import { z } from 'zod'
import {
  duration,
  mapping,
  mappingOf,
  oneOf,
  optionalText,
  secretFile,
  size,
  text,
  textOf,
} from './leaves.ts'
import { networkShape } from './network-schema.ts'
import { headerName, headerValue } from './pull-schema.ts'

export const consoleSchema = mapping({
  listen: optionalText('host:port')
    .default('127.0.0.1:8480')
    .describe('Where the HTTP server of the daemon listens: host:port; empty: nowhere'),
  token: optionalText('a token')
    .optional()
    .describe('What a push and an operator of the pages must show; without it nothing can be pushed'),
  tokenFile: secretFile('token'),
  readToken: optionalText('a token')
    .optional()
    .describe('What somebody must show who may look at the pages, and change nothing'),
  readTokenFile: secretFile('token'),
  tls: mapping({
    certFile: text('a file with the certificate and those that lead to its authority, as PEM').describe(
      'Certificate, with those that lead to its authority, as PEM',
    ),
    keyFile: text('a file with the private key, as PEM').describe('Its private key, as PEM'),
  })
    .optional()
    .describe('HTTPS in place of HTTP'),
  hosts: z
    .array(
      textOf((name) => /^[a-z0-9.-]+$/i.test(name), 'a host name without a port'),
      { error: 'a list of host names' },
    )
    .default([])
    .describe('Names under which it may be asked, besides localhost, listen, and addresses'),
  maxBytes: size({ min: 1, max: 1e12, because: 'a larger body is refused' })
    .default('20GB')
    .describe('Upper bound of a pushed file, as it is sent'),
})

export const tracesSchema = mapping({
  url: optionalText('the address of an OTLP/HTTP receiver')
    .optional()
    .describe('Receiver of OpenTelemetry traces over OTLP/HTTP, with its path. Empty: none are sent'),
  headers: mappingOf(headerName, headerValue, 'a mapping of headers')
    .default({})
    .describe('Sent with them; their values are secrets'),
})

export const alertsSchema = mapping({
  url: optionalText('the address of a webhook')
    .optional()
    .describe('Webhook that is sent JSON; its path is a secret. Empty: no alerts'),
  format: oneOf(['json', 'slack'])
    .default('json')
    .describe('Of the body; slack: only the text, as incoming webhooks of Slack and Mattermost take it'),
  heartbeat: mapping({
    url: optionalText('the address of a monitor').describe(
      'Asked for with GET while catalogd works and its alerts are taken; a secret. Empty: no heartbeat',
    ),
    every: duration({ minMs: 10_000 }).default('1m').describe('How often'),
  })
    .optional()
    .describe('For a monitor that tells when nothing comes any more'),
  headers: mappingOf(headerName, headerValue, 'a mapping of headers')
    .default({})
    .describe('Sent with each alert; their values are secrets'),
  every: duration({ minMs: 0 })
    .default('15m')
    .describe('At most one message in so long about one matter, besides the one that it is over'),
  urgentLag: duration({ minMs: 1000 })
    .default('5m')
    .describe('How long an urgent change may wait before that is an alert'),
  ...networkShape,
})
