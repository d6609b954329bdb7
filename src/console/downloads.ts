import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { CatalogConfig } from '../config/model.ts'
import type { Access } from './access.ts'
import { enter } from './guard-pages.ts'
import type { ReadThread } from './read-thread.ts'

interface DownloadsOptions {
  access: Access
  thread: ReadThread
  catalogOf: (name: string | undefined) => CatalogConfig
  refuse: (reply: FastifyReply, error: unknown) => Promise<FastifyReply>
}

interface DownloadRoute {
  Params: { id: string; part: string }
  Querystring: Record<string, string>
}

const parts = { 'report.json': 'report', rejects: 'rejects' } as const

/** `GET /imports/<number>/report.json` and `/rejects`: what an import wrote, as files. */
export function registerDownloads(
  app: FastifyInstance,
  { access, thread, catalogOf, refuse }: DownloadsOptions,
): void {
  app.get<DownloadRoute>('/imports/:id/:part', async (request, reply) => {
    if (!(await enter(request, reply, access))) return reply
    const { id, part } = request.params
    if (!Object.hasOwn(parts, part)) return reply.callNotFound()
    try {
      const { name } = catalogOf(request.query.catalog)
      const path = await thread.read('reportFile', name, Number(id), parts[part as keyof typeof parts])
      return reply
        .header('content-disposition', `attachment; filename*=UTF-8''${encodeURIComponent(basename(path))}`)
        .header('content-type', part === 'rejects' ? 'application/octet-stream' : 'application/json')
        .header('x-content-type-options', 'nosniff')
        .header('cache-control', 'no-store')
        .send(createReadStream(path))
    } catch (error) {
      return await refuse(reply, error)
    }
  })
}
