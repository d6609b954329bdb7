import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Builds the published package into dist/: TypeScript to JavaScript with declarations, and what is no TypeScript copied
// beside it. The quickstart belongs to the checkout, not to the package.

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')

rmSync(dist, { recursive: true, force: true })
execFileSync(process.execPath, [compiler(), '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' })
const assets = globSync('**/*', {
  cwd: join(root, 'src'),
  withFileTypes: true,
  exclude: (entry) => entry.name === 'quickstart' || entry.name.endsWith('.ts'),
})
for (const asset of assets) {
  const file = join(asset.parentPath, asset.name)
  if (asset.isFile()) cpSync(file, file.replace(join(root, 'src'), dist))
}
// npm sets the mode when it installs, but `npm link` and a plain checkout run the file as it is.
chmodSync(join(dist, 'main.js'), 0o755)

function compiler(): string {
  const folder = join(root, 'node_modules', 'typescript')
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: { tsc: string } }
  return join(folder, bin.tsc)
}
