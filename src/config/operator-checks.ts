import { webhookAddressProblem } from '../lib/base-address.ts'
import type { ConfigDocument } from './document.ts'
import { isThisMachine, parseListenAddress } from './listen-address.ts'
import { checkText } from './parts.ts'

/** What the schema cannot see in `console` and `alerts`. */
export function checkOperatorParts(document: ConfigDocument): void {
  checkText(document, ['console', 'listen'], (listen) => {
    if (listen === '' || parseListenAddress(listen)) return undefined
    return 'expected host:port such as 127.0.0.1:8480, or nothing'
  })
  checkOpenConsole(document)
  checkText(document, ['alerts', 'url'], (url) => (url === '' ? undefined : webhookAddressProblem(url)))
}

/** Whoever can reach it may push, unless there is a token. */
function checkOpenConsole(document: ConfigDocument): void {
  const listen = document.at(['console', 'listen'])
  const address = typeof listen === 'string' ? parseListenAddress(listen) : undefined
  if (address === undefined || isThisMachine(address.host)) return
  const hasToken = Boolean(document.at(['console', 'token'])) || document.at(['console', 'tokenFile'])
  if (hasToken) return
  document.addProblem(
    ['console', 'listen'],
    `found ${listen}, which others can reach, and no token, expected console.token, or 127.0.0.1`,
  )
}
