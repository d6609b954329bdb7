import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import type { ConfigDocument } from './document.ts'
import { parseDuration } from './duration.ts'
import { duration, mapping, text } from './leaves.ts'
import type { TransformConfig } from './model.ts'
import { feedPaths, soundPart } from './parts.ts'

const defaultTimeout = '100ms'

/** Of a feed: a file of the user's own that changes records before they are mapped. */
export const transformSchema = z.union(
  [
    text('a file such as ./my-transform.ts'),
    mapping({
      file: text('a file such as ./my-transform.ts').describe(
        'Its default export is a function from record to record',
      ),
      timeout: duration({ minMs: 1 }).default(defaultTimeout).describe('How long one record may take'),
    }),
  ],
  { error: 'a file such as ./my-transform.ts, or a mapping with file and timeout' },
)

/** Relative paths begin at `folder`. */
export function buildTransform(
  input: z.output<typeof transformSchema> | undefined,
  folder: string,
): TransformConfig | undefined {
  if (input === undefined) return undefined
  const { file, timeout } = typeof input === 'string' ? { file: input, timeout: defaultTimeout } : input
  return { file: resolve(folder, file), limitMs: parseDuration(timeout) ?? 0 }
}

/** The file must be there: each import would be refused without it. */
export function checkTransforms(document: ConfigDocument, folder: string): void {
  for (const feed of feedPaths(document)) {
    const path = [...feed, 'transform']
    const transform = buildTransform(soundPart(document, path, transformSchema.optional()), folder)
    if (!transform || statSync(transform.file, { throwIfNoEntry: false })?.isFile()) continue
    if (document.unsetAt(path).length > 0) continue
    document.addProblem(path, `found ${transform.file}, which is no file, expected the path of one`)
  }
}
