#!/usr/bin/env node
// Read by any Node since 16: nothing newer is used, and nothing is imported, before the check.
const neededMajor = 24

if (Number.parseInt(process.versions.node, 10) < neededMajor) {
  process.stderr.write(
    `catalogd needs Node ${neededMajor} or later; this is Node ${process.versions.node} (${process.execPath})\n`,
  )
  process.exitCode = 2
} else {
  const { cacheCode } = await import('./cli/code-cache.ts')
  cacheCode()
  const { boundMemory } = await import('./cli/bounded-process.ts')
  boundMemory(process.argv.slice(2))
  const { runProcess } = await import('./cli/process.ts')
  process.exitCode = await runProcess(process.argv.slice(2))
}
