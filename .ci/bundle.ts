import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { rolldown } from 'rolldown'

/** Of many small files each. Others load files of their own, or have to be the very module that their dependants load. */
const inlined = ['zod', 'yaml', 'commander']
/** Where the compiler of the bundle puts what it needs itself. */
const helpers = '@oxc-project/runtime'

/**
 * Puts the modules of the program together, for finding and linking hundreds of files is a third of what a short command
 * costs. The files that the compiler made stay: threads begin with them, other programs import them, and what is no module
 * lies beside them.
 */
export async function bundleProgram({ root, dist }: { root: string; dist: string }): Promise<void> {
  const folder = join(dist, 'bundle')
  const isInlined = (id: string) =>
    /^[./]/.test(id) || [...inlined, helpers].some((name) => id === name || id.startsWith(`${name}/`))
  const bundle = await rolldown({
    input: { process: join(dist, 'cli', 'process.js') },
    platform: 'node',
    transform: { target: 'node24' },
    external: (id) => !isInlined(id),
    plugins: [{ name: 'places', transform: (code, id) => withPlace(code, relative(folder, id)) }],
  })
  await bundle.write({ dir: folder, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' })
  for (const name of inlined)
    cpSync(join(root, 'node_modules', name, 'LICENSE'), join(folder, `${name}-LICENSE.txt`))
  useBundle(join(dist, 'main.js'))
}

/** Modules find files beside them where the compiler put them, not where the bundle lies. */
function withPlace(code: string, place: string): string | undefined {
  if (place.includes('node_modules') || !code.includes('import.meta.url')) return undefined
  return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`)
}

function useBundle(main: string): void {
  const code = readFileSync(main, 'utf8')
  const used = code.replace("import('./cli/process.js')", "import('./bundle/process.js')")
  if (used === code) throw new Error(`${main} does not import the program as expected`)
  writeFileSync(main, used)
}
