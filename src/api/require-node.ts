// The same as in main.ts, for those who import the package: an older Node fails in some dependency, with an error that
// names no reason. Imported before anything else by the entry of the package; read by any Node since 16.
const neededMajor = 24

if (Number.parseInt(process.versions.node, 10) < neededMajor) {
  throw new Error(
    `catalogd needs Node ${neededMajor} or later; this is Node ${process.versions.node} (${process.execPath})`,
  )
}
