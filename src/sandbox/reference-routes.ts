import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { buildOpenApi } from '../api/contract/openapi.ts'
import { readVersion } from '../lib/version.ts'

/** The page works alone: nothing comes from elsewhere, and nothing goes there. */
const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** `/openapi.json`, and at `/` and `/reference` the same to read in a browser and to try. */
export async function registerReference(scope: FastifyInstance): Promise<void> {
  const viewer = findViewer()

  scope.get('/openapi.json', async (request, reply) => {
    const self = `${request.protocol}://${request.host}`
    const servers = { stack: self, catalog: self, intent: self }
    return reply
      .headers({ ...securityHeaders, 'cache-control': 'no-cache' })
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(buildOpenApi({ version: readVersion(), servers })))
  })
  for (const path of ['/', '/reference']) {
    scope.get(path, async (_request, reply) => sendFixed(reply, 'text/html; charset=utf-8', referencePage))
  }
  scope.get('/reference/start.js', async (_request, reply) =>
    sendFixed(reply, 'text/javascript; charset=utf-8', referenceStart),
  )
  for (const [file, type] of Object.entries(viewerFiles)) {
    scope.get(`/reference/${file}`, async (_request, reply) =>
      reply
        .headers({ ...securityHeaders, 'cache-control': 'public, max-age=3600' })
        .type(type)
        .send(await readFile(join(viewer, file))),
    )
  }
}

/** The build copies the viewer beside this file, so that who installs the program need not install the viewer's package. */
function findViewer(): string {
  const built = fileURLToPath(new URL('reference', import.meta.url))
  return existsSync(built)
    ? built
    : dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
}

function sendFixed(reply: FastifyReply, type: string, text: string): FastifyReply {
  return reply
    .headers({ ...securityHeaders, 'cache-control': 'no-cache' })
    .type(type)
    .send(text)
}

/** Of the viewer's package (swagger-ui-dist), what the page loads. */
export const viewerFiles: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

const referencePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference of the sandbox</title>
<link rel="icon" type="image/png" href="/reference/favicon-32x32.png">
<link rel="stylesheet" href="/reference/swagger-ui.css">
<script src="/reference/swagger-ui-bundle.js" defer></script>
<script src="/reference/start.js" defer></script>
</head>
<body>
<main id="reference"></main>
<noscript>This page needs JavaScript; <a href="/openapi.json">/openapi.json</a> holds the same.</noscript>
</body>
</html>
`

/** A file of its own, because the page allows no script within it. */
const referenceStart = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // Nothing is sent to the validator that the viewer knows.
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
})
`
