import type { Finding, Module } from './module.ts'

/** Files that import each other, types included: each group is reported once, at the import that closes the ring. */
export function checkCycles(modules: readonly Module[]): Finding[] {
  const byPath = new Map(modules.map((module) => [module.path, module]))
  const done = new Set<string>()
  const findings: Finding[] = []
  const visit = (path: string, trail: readonly string[]) => {
    const module = byPath.get(path)
    if (!module || done.has(path)) return
    for (const { target, line } of module.imports) {
      const at = target === path ? trail.length : trail.indexOf(target)
      if (at === -1) {
        visit(target, [...trail, path])
        continue
      }
      const ring = [...trail.slice(at), path, target].join(' → ')
      findings.push({
        file: path,
        line,
        rule: 'cycle',
        message: `${ring}; move what both need into a file of its own`,
      })
    }
    done.add(path)
  }
  for (const { path } of modules) visit(path, [])
  return findings
}
