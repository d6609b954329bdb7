/** A file for a thread or process of its own, beside a module: its source in a checkout, what was built of it in the package. */
export function programFile(source: string, module: string): URL {
  return new URL(module.endsWith('.ts') ? source : source.replace(/ts$/, 'js'), module)
}
