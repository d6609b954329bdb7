import { cpSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { rolldown } from 'rolldown'

/** What the program, its threads, and a process of its own begin with; the rest is found from here. */
const entries = [
  'cli/process',
  'mirror-thread',
  'imports/import-worker',
  'records/scan/scan-worker',
  'console/read-worker',
  'redis/end-unused',
]
/** Packages of many small files. The others read files of their own, or must be the same module that other packages load. */
const inlined = ['zod', 'yaml', 'commander']
/** Where the compiler of the bundle puts what it needs itself. */
const helpers = '@oxc-project/runtime'

/**
 * Puts the modules of the program together, for finding and linking hundreds of files is a third of what a short command
 * costs. The files that the compiler made stay: other programs import them, and what is no module lies beside them.
 */
export async function bundleProgram({ root, dist }: { root: string; dist: string }): Promise<void> {
  const folder = join(dist, 'bundle')
  const isInlined = (id: string) =>
    /^[./]/.test(id) || [...inlined, helpers].some((name) => id === name || id.startsWith(`${name}/`))
  const bundle = await rolldown({
    input: entries.map((name) => join(dist, `${name}.js`)),
    platform: 'node',
    transform: { target: 'node24' },
    external: (id) => !isInlined(id),
    plugins: [
      {
        name: 'places',
        transform: (code, id) => (id.startsWith(dist) ? withPlace(code, relative(folder, id)) : undefined),
      },
    ],
  })
  await bundle.write({ dir: folder, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' })
  for (const name of entries) {
    const file = join(dist, `${name}.js`)
    const bundled = join(relative(dirname(file), folder), `${basename(name)}.js`)
    writeFileSync(file, `export * from './${bundled}'\n`)
  }
  for (const name of inlined)
    cpSync(join(root, 'node_modules', name, 'LICENSE'), join(folder, `${name}-LICENSE.txt`))
}

/** Modules find files beside them where the compiler put them, not where the bundle lies. */
function withPlace(code: string, place: string): string | undefined {
  if (!code.includes('import.meta.url')) return undefined
  return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`)
}
