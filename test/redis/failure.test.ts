import { expect, it } from 'vitest'
import { StorageError } from '../../src/lib/errors.ts'
import { explainRedisFailure, isFull, isPassing } from '../../src/redis/failure.ts'

/** As Redis 6.2 words it, and as Redis 7 does. */
const inScripts = (refusal: string) => [
  `ERR Error running script (call to f_0f3a8bf6f3b1dd5c0b9b7be8bb0ae6a4a5d1d4e6): @user_script:8: @user_script: 8: -${refusal}`,
  `${refusal} script: 0f3a8bf6f3b1dd5c0b9b7be8bb0ae6a4a5d1d4e6, on @user_script:8.`,
]

it.each([
  ["READONLY You can't write against a read only replica.", 'redis-readonly'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'redis-full'],
  ['MISCONF Redis is configured to save RDB snapshots, but it is currently not able to.', 'redis-disk'],
  ['NOREPLICAS Not enough good replicas to write.', 'redis-readonly'],
])('a refusal is known in a script, too: %s', (refusal, code) => {
  for (const message of [refusal, ...inScripts(refusal)]) {
    const explained = explainRedisFailure(new Error(message), 'redis:6379')
    expect(explained).toBeInstanceOf(StorageError)
    expect(explained).toMatchObject({ code, message: expect.stringContaining(`answers: ${refusal}`) })
    expect(isPassing(new Error(message))).toBe(true)
    expect(isFull(new Error(message))).toBe(code === 'redis-full')
  }
})

it('what a script does wrong itself stays a bug', () => {
  for (const said of ['-WRONGTYPE Operation against a key', 'attempt to index a nil value']) {
    const error = new Error(`ERR Error running script (call to f_0f3a): @user_script:8: ${said}`)
    expect(explainRedisFailure(error, 'redis:6379')).toBe(error)
    expect(isPassing(error)).toBe(false)
  }
})
