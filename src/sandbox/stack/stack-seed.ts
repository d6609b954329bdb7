/** 1 January 2026, in Unix seconds. The seed must not depend on the day on which the sandbox starts. */
export const seedEpochSeconds = 1_767_225_600
export const daySeconds = 86_400

/** Goes round the values, so that every one occurs. */
export function pick<Value>(values: readonly Value[], index: number): Value {
  const value = values[index % values.length]
  if (value === undefined) throw new Error('there is nothing to pick from')
  return value
}

/** A whole number from 0 below `count`, spread evenly and the same for the same index everywhere. */
export function scatter(index: number, count: number): number {
  let mixed = Math.imul(index + 1, 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b)
  return ((mixed ^ (mixed >>> 13)) >>> 0) % count
}
