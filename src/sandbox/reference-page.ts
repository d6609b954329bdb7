/** Of the viewer's package (swagger-ui-dist), what the page loads. */
export const viewerFiles: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

export const referencePage = `<!doctype html>
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
export const referenceStart = `SwaggerUIBundle({
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
