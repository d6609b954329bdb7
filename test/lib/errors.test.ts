import { describe, expect, it } from 'vitest'
import { ConfigError, describeError, describeErrorLines } from '../../src/lib/errors.ts'

describe('an error in words', () => {
  it('is one line, whose sentences end once', () => {
    const error = new ConfigError('x', 'a:1 found "x"; did you mean "y"?', { hint: 'Correct it' })
    expect(describeError(error)).toBe('a:1 found "x"; did you mean "y"? Correct it')
    const plain = new ConfigError('x', 'there is no file', { hint: 'Check the path' })
    expect(describeError(plain)).toBe('there is no file. Check the path')
  })

  it('has several problems beside each other, or below each other where there is room', () => {
    const error = new ConfigError('x', 'a:1 wrong\nb:2 unknown', { hint: 'Correct these 2 places' })
    expect(describeError(error)).toBe('a:1 wrong; b:2 unknown. Correct these 2 places')
    expect(describeErrorLines(error)).toEqual(['a:1 wrong', 'b:2 unknown', 'Correct these 2 places'])
  })
})
