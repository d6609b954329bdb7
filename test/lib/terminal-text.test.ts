import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openLog } from '../../src/lib/log.ts'
import { safeLine, safeLines, safeStream, safeValue } from '../../src/lib/terminal-text.ts'

/** Everything but line feeds that commands a terminal or rearranges text. */
const commanding = /[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

describe('text for terminals', () => {
  it.each([
    ['a\u001b[31mred', 'a\\u001b[31mred'],
    ['bell\u0007 and CSI \u009b2J', 'bell\\u0007 and CSI \\u009b2J'],
    ['a\r\nb\tc', 'a\\r\\nb\\tc'],
    ['gnp.\u202eexe', 'gnp.\\u202eexe'],
    ['one\u2028two\u2066', 'one\\u2028two\\u2066'],
    ['Größe 👩‍👩‍👧 שלום', 'Größe 👩‍👩‍👧 שלום'],
  ])('%j is the line %j', (text, line) => {
    expect(safeLine(text)).toBe(line)
  })

  it('keeps lines, and JSON the same JSON', () => {
    expect(safeLines('a\n\tb\u001b\r')).toBe('a\n\tb\\u001b\\r')
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = safeLines(JSON.stringify(value, undefined, 2))
        expect(text).not.toMatch(commanding)
        expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(value))
      }),
    )
  })

  it('makes the texts of a value lines, names included, and leaves the rest', () => {
    const value = { 'a\n': ['b\u0007', 1, null, { c: true }], d: undefined }
    expect(safeValue(value)).toEqual({ 'a\\n': ['b\\u0007', 1, null, { c: true }], d: undefined })
  })

  it('asks the terminal for its width each time', () => {
    const terminal = { write: () => true, isTTY: true, columns: 80 }
    const stream = safeStream(terminal)
    terminal.columns = 132
    expect([stream.isTTY, stream.columns]).toEqual([true, 132])
  })
})

describe('log lines', () => {
  const hostile = 'a\u001b[31m\u009b2J\u0007\u202eb'
  const write = (isTTY: boolean) => {
    const written: string[] = []
    const log = openLog({ level: 'info', stream: { write: (text) => written.push(text), isTTY } })
    log.child({ feed: hostile }).warn({ file: hostile, err: new Error(hostile) }, `found ${hostile}`)
    return written.join('')
  }

  it('have colours of their own on a terminal, and no others', () => {
    const text = write(true)
    expect(text).toContain('\u001b[33mWARN')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: our colours
    expect(text.replaceAll(/\u001b\[\d+m/g, '')).not.toMatch(commanding)
    expect(text).not.toContain('\u001b[31m\\u009b')
    expect(text).toContain('a\\u001b[31m\\u009b2J\\u0007\\u202eb')
  })

  it('are the same JSON elsewhere', () => {
    const text = write(false)
    expect(text).not.toMatch(commanding)
    expect(JSON.parse(text)).toMatchObject({ feed: hostile, file: hostile, msg: `found ${hostile}` })
  })
})
