// Loaded before the program (`node --import`): when an import opens a file called `evil…`, an error is thrown that nobody
// can catch, as a bug in a callback would.
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const { open } = promises
promises.open = async (path, ...more) => {
  const isImport = String(path).includes('~evil') && new Error().stack?.includes('openSource')
  if (isImport) setImmediate(() => void throwLater())
  return open(path, ...more)
}
syncBuiltinESMExports()

function throwLater(): never {
  throw new Error('thrown in a callback')
}
