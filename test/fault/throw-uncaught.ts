// Loaded before the program (`node --import`): when an import opens a file called `evil…`, an error is thrown that nobody
// can catch, as a bug in a callback would.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { openSync } = fs
fs.openSync = (path, ...more) => {
  const isImport = String(path).includes('~evil') && new Error().stack?.includes('holdSmall')
  if (isImport) setImmediate(() => void throwLater())
  return openSync(path, ...more)
}
syncBuiltinESMExports()

function throwLater(): never {
  throw new Error('thrown in a callback')
}
