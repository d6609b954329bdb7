import { expect, test } from 'vitest'
import { fullError } from '../../src/sources/space.ts'

const mb = 1024 * 1024

test('a full disk is told of with the figures that are known, never with more free than there is', () => {
  const messageOf = (known: Parameters<typeof fullError>[1]) => fullError('/state', known).message
  const space = { freeBytes: 15.9 * mb, totalBytes: 64 * mb }
  expect(messageOf({ neededBytes: 16 * mb, space })).toBe(
    'The disk of /state is full (15 of 64 MB free, 16 MB are needed); files stay in their drop folders',
  )
  expect(messageOf({ neededBytes: 16.1 * mb })).toContain('is full (17 MB are needed); files')
  expect(messageOf({ cause: new Error('ENOSPC') })).toContain('is full; files')
})
