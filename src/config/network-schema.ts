import type { ConfigDocument } from './document.ts'
import { optionalText, text } from './leaves.ts'
import { checkText } from './parts.ts'
import type { ConfigPath } from './problems.ts'

export const noProxy = 'none'

/** The way to a server, beside its address. */
export const networkShape = {
  proxy: optionalText('the address of an HTTP proxy such as http://proxy:3128, or none')
    .optional()
    .describe(
      'HTTP proxy on the way there; none: directly; left out: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say',
    ),
  caFile: text('a file with certificates in PEM form')
    .optional()
    .describe('Authorities that are trusted besides those of the system'),
  certFile: text('a file with a certificate in PEM form')
    .optional()
    .describe('Certificate that is shown to the server, with those that lead to its authority'),
  keyFile: text('a file with a private key in PEM form').optional().describe('Private key of certFile'),
}

export function checkNetwork(document: ConfigDocument, path: ConfigPath): void {
  checkText(document, [...path, 'proxy'], (address) => {
    const isProxy = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
    return isProxy || address === '' || address === noProxy
      ? undefined
      : 'expected the address of an HTTP proxy such as http://proxy:3128, or none'
  })
  const [cert, key] = ['certFile', 'keyFile'].map((name) => document.at([...path, name]) !== undefined)
  if (cert === key) return
  document.addProblem(
    [...path, cert ? 'keyFile' : 'certFile'],
    `is missing, expected it beside ${cert ? 'certFile' : 'keyFile'}`,
  )
}
