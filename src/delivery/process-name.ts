import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

/** Unique among all processes of a catalog, also on one host; without colons. */
export function newProcessName(): string {
  return `${hostname().replace(/[^a-z0-9-]/gi, '-')}-${process.pid}-${randomBytes(3).toString('hex')}`
}
