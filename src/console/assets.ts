import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { FastifyInstance } from 'fastify'
import { type Html, html } from './html.ts'

const require = createRequire(import.meta.url)
const own = (name: string) => () => new URL(`./assets/${name}`, import.meta.url)
const ofPackage = (path: string) => () => require.resolve(path)

/** All that a page loads; nothing comes from elsewhere. */
const files = {
  'console.css': { find: own('console.css'), type: 'text/css' },
  'console.js': { find: own('console.js'), type: 'text/javascript' },
  'icon.svg': { find: own('icon.svg'), type: 'image/svg+xml' },
  'idiomorph.js': { find: ofPackage('idiomorph/dist/idiomorph.min.js'), type: 'text/javascript' },
  'uplot.js': { find: ofPackage('uplot/dist/uPlot.iife.min.js'), type: 'text/javascript' },
  'uplot.css': { find: ofPackage('uplot/dist/uPlot.min.css'), type: 'text/css' },
} as const

type AssetName = keyof typeof files

interface Asset {
  content: Buffer
  digest: string
}

/** The files of the pages, read at the first use. Their addresses name their content, so browsers keep them. */
export class Assets {
  #read: Promise<ReadonlyMap<string, Asset>> | undefined

  /** What a page says in its head. */
  async head(): Promise<Html> {
    const all = await this.#all()
    const at = (name: AssetName) => `/assets/${name}?${all.get(name)?.digest ?? ''}`
    const scripts = (['idiomorph.js', 'uplot.js', 'console.js'] as const).map(
      (name) => html`<script defer src="${at(name)}"></script>`,
    )
    return html`<link rel="icon" href="${at('icon.svg')}">
<link rel="stylesheet" href="${at('uplot.css')}"><link rel="stylesheet" href="${at('console.css')}">
${scripts}`
  }

  register(app: FastifyInstance): void {
    app.get<{ Params: { name: string } }>('/assets/:name', async ({ params }, reply) => {
      const asset = (await this.#all()).get(params.name)
      if (!asset) return reply.callNotFound()
      return reply
        .header('content-type', `${files[params.name as AssetName].type}; charset=utf-8`)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('x-content-type-options', 'nosniff')
        .send(asset.content)
    })
  }

  #all(): Promise<ReadonlyMap<string, Asset>> {
    this.#read ??= readAll()
    return this.#read
  }
}

async function readAll(): Promise<ReadonlyMap<string, Asset>> {
  const read = Object.entries(files).map(async ([name, { find }]): Promise<[string, Asset]> => {
    const content = await readFile(find())
    return [name, { content, digest: createHash('sha256').update(content).digest('hex').slice(0, 12) }]
  })
  return new Map(await Promise.all(read))
}
