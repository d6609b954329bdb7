import { JsonMachine } from './json-machine.ts'
import { columnsMax, depthMax } from './limits.ts'

/** From here on it takes the parser long to find out what is wrong. */
const longBytes = 64 * 2 ** 10

/** Why a text is not given to the JSON parser; undefined when it is. */
export function problemOfJson(bytes: Buffer): string | undefined {
  if (bytes.length < longBytes) return undefined
  const machine = new JsonMachine({ key: () => {}, begin: () => {}, ended: () => {} })
  const fault = machine.take(bytes, 0)
  if (fault < 0 && machine.end(bytes.length)) return undefined
  if (fault >= 0 && machine.isTooDeep) return tooDeep
  return fault < 0
    ? 'is no valid JSON (it ends too early)'
    : `is no valid JSON (byte ${fault}: expected ${machine.expected})`
}

/** Why an object is no record; undefined when it is one. */
export function problemOfObject(object: object): string | undefined {
  if (isDeeper(object, depthMax)) return tooDeep
  let keys = 0
  for (const _ in object) keys += 1
  return keys > columnsMax ? `has more than ${columnsMax} keys` : undefined
}

const tooDeep = `has more than ${depthMax} objects and arrays in each other`

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const parts = Array.isArray(value) ? value : Object.values(value)
  return parts.some((part) => isDeeper(part, levels - 1))
}
