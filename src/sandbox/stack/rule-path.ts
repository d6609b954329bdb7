const fieldCharactersMax = 200
const reserved = ['__proto__', 'prototype', 'constructor']
const plainKey = /^[$\w-]{1,60}$/

/** `trigger.$or[0].tags.$size`, `trigger.$or[0]["a b"]`. */
export function placeBelow(place: string, key: string | number): string {
  if (typeof key === 'number') return `${place}[${key}]`
  if (plainKey.test(key)) return `${place}.${key}`
  return `${place}[${JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key)}]`
}

/** What is wrong with a field name such as `location.country`, as a condition or an action has it. */
export function fieldPathProblem(path: string): string | undefined {
  if (path.length > fieldCharactersMax) {
    return `the name of the field has ${path.length} characters; ${fieldCharactersMax} are the most`
  }
  const steps = path.split('.')
  if (steps.includes(''))
    return 'the name of the field is empty or has an empty step; write it like location.country'
  const found = steps.find((step) => reserved.includes(step))
  return found === undefined ? undefined : `${found} is no field of a record`
}
