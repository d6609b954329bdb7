import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { viewerFiles } from '../src/sandbox/reference-routes.ts'
import { bundleProgram } from './bundle.ts'

// Builds the published package into dist/: TypeScript to JavaScript with declarations, and what is no TypeScript copied
// beside it. The quickstart belongs to the checkout, not to the package.

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')

rmSync(dist, { recursive: true, force: true })
compile('tsconfig.build.json')
// Declarations only for what `exports` of package.json names; the rest is nobody's to import.
compile('.ci/tsconfig.types.json')
for (const path of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
  const isAsset = !/\.(ts|wat)$/.test(path) && !path.startsWith('quickstart')
  if (isAsset && statSync(join(root, 'src', path)).isFile()) cpSync(join(root, 'src', path), join(dist, path))
}
// The viewer's package would bring another one along that reports installations to a company.
const viewerPapers = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt']
for (const file of [...Object.keys(viewerFiles), ...viewerPapers]) {
  cpSync(join(root, 'node_modules', 'swagger-ui-dist', file), join(dist, 'sandbox', 'reference', file))
}
await bundleProgram({ root, dist })
// npm sets the mode when it installs, but `npm link` and a plain checkout run the file as it is.
chmodSync(join(dist, 'main.js'), 0o755)

function compile(project: string): void {
  const folder = join(root, 'node_modules', 'typescript')
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: { tsc: string } }
  const { status } = spawnSync(process.execPath, [join(folder, bin.tsc), '-p', join(root, project)], {
    stdio: 'inherit',
  })
  // The compiler has said why.
  if (status !== 0) process.exit(status ?? 1)
}
