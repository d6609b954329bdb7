import { beforeEach, describe, expect, it } from 'vitest'
import { type CallSpan, OverlapWatch } from '../../src/sandbox/overlaps.ts'

let watch: OverlapWatch
beforeEach(() => {
  watch = new OverlapWatch()
})

/** A call that has been read wholly. */
function open(...ids: string[]): CallSpan {
  const span = watch.begin()
  watch.settle(span)
  watch.enter(span, ids)
  return span
}

describe('OverlapWatch', () => {
  it('counts each product once, however many calls hold it at one time', () => {
    open('1', '2')
    open('1')
    open('1', '3')
    expect(watch.count).toBe(1)
    expect(watch.first(20)).toEqual(['1'])
  })

  it('lets a call begin when the one before it was answered', () => {
    watch.end(open('1'), false)
    watch.end(open('1'), false)
    expect(watch.count).toBe(0)
  })

  it('takes an answer after the beginning of the next call for an overlap', () => {
    const first = open('1')
    const second = watch.begin()
    watch.end(first, false)
    watch.settle(second)
    watch.enter(second, ['1'])
    expect(watch.count).toBe(1)
  })

  it('lets the end of a call that was given up be seen a turn after the beginning of the next', () => {
    const first = open('1')
    const second = watch.begin()
    watch.end(first, true)
    watch.settle(second)
    watch.enter(second, ['1'])
    expect(watch.count).toBe(0)
  })

  it('takes a call that was given up later for an overlap', () => {
    const first = open('1')
    const second = watch.begin()
    watch.settle(second)
    watch.end(first, true)
    watch.enter(second, ['1'])
    expect(watch.count).toBe(1)
  })

  it('remembers ended calls while one that began before their end is not read yet', () => {
    const slow = watch.begin()
    watch.end(open('1'), false)
    watch.end(open('2'), false)
    watch.settle(slow)
    watch.enter(slow, ['1', '3'])
    watch.end(slow, false)
    expect(watch.first(20)).toEqual(['1'])
  })

  it('does not wait for calls that will never be read', () => {
    const refused = watch.begin()
    const first = open('1')
    watch.skip(refused)
    watch.end(refused, false)
    watch.end(first, false)
    open('1')
    expect(watch.count).toBe(0)
  })

  it('knows the products of a call whose sender left before it was looked at', () => {
    const left = watch.begin()
    watch.end(left, true)
    const next = watch.begin()
    watch.settle(left)
    watch.enter(left, ['1'])
    watch.settle(next)
    watch.enter(next, ['1'])
    expect(watch.count).toBe(0)
  })

  it('shows no more than it is asked for', () => {
    const ids = Array.from({ length: 30 }, (_, index) => `P${index}`)
    open(...ids)
    open(...ids)
    expect(watch.count).toBe(30)
    expect(watch.first(20)).toEqual(ids.slice(0, 20))
  })
})
