import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FeedFolder, judge, judgeAndRead } from './feed-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

const google = 'xmlns:x="http://base.google.com/ns/1.0"'

describe('XML records', () => {
  it('have the texts of their elements as values, with Google names under g:', async () => {
    const text = `<?xml version="1.0"?>\n<rss ${google}><channel>\n<item><x:id>1</x:id><title><![CDATA[<b>]]> &amp; &#65;</title>
<x:image>a</x:image><x:image>b</x:image><x:shipping><x:price unit="EUR">2</x:price></x:shipping></item></channel></rss>`
    const neededColumns = [
      'g:id',
      'title',
      'g:image',
      'g:shipping.g:price',
      'g:shipping.g:price.@unit',
      'none',
    ]
    const { judgement, records } = await judgeAndRead(await folder.write('a.xml', text), { neededColumns })
    expect(judgement).toMatchObject({ dialect: { type: 'xml', path: 'rss/channel/item' }, records: 1 })
    expect(records[0]?.cells).toEqual(['1', '<b> & A', ['a', 'b'], '2', 'EUR', undefined])
    expect(records[0]?.line).toBe(3)
  })

  it('end where their element does, whatever looks like its end', async () => {
    const inner = '<item>x</item><!-- </item> --><?p </item>?><![CDATA[</item>]]><a b="</item>">1</a>'
    const text = `<rss><channel><item><id>1</id>${inner.replace('"</item>"', "'/>'")}</item><item/></channel></rss>`
    const { records } = await judgeAndRead(await folder.write('a.xml', text), {
      neededColumns: ['id', 'item', 'a'],
    })
    expect(records.map(({ cells }) => cells)).toEqual([
      ['1', 'x', '1'],
      [undefined, undefined, undefined],
    ])
  })

  it('of an Atom feed have names without a prefix', async () => {
    const text = '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:id>1</a:id></a:entry></a:feed>'
    const { judgement, records } = await judgeAndRead(await folder.write('a.xml', text))
    expect([judgement.dialect.path, records[0]?.cells]).toEqual(['feed/entry', ['1']])
  })

  it('named like the prototype are harmless', async () => {
    const text = '<products><product><__proto__><id>9</id></__proto__><id>1</id></product></products>'
    const { records } = await judgeAndRead(await folder.write('a.xml', text), {
      neededColumns: ['id', '__proto__.id'],
    })
    expect(records[0]?.cells).toEqual(['1', '9'])
  })

  it('with bytes that mean nothing are rejected with their offset, others are not', async () => {
    const [before, after] = [
      '<products><product><id>1',
      '</id></product><product><id>é2</id></product></products>',
    ]
    const source = await folder.write(
      'a.xml',
      Buffer.concat([Buffer.from(before), Buffer.of(0xff), Buffer.from(after)]),
    )
    const { judgement, records, issues } = await judgeAndRead(source, { format: { encoding: 'utf-8' } })
    expect(records.map(({ cells }) => cells)).toEqual([['é2']])
    expect(issues).toMatchObject([
      { code: 'invalid-encoding', message: expect.stringContaining(`byte ${before.length} `) },
    ])
    expect(judgement.unreadableIds).toBe(1)
  })
})

describe('the record path', () => {
  it.each([
    ['<products/>', 'products/product', 0],
    ['<rss><channel><title>x</title></channel></rss>', 'rss/channel/item', 0],
    ['<s><cs><c><n/></c><c><n/></c></cs><os><offer><id>1</id></offer></os></s>', 's/os/offer', 1],
    ['<x><y><id>1</id><z><q/></z><z><q/></z></y><y><id>2</id></y></x>', 'x/y', 2],
  ])('of %s is %s', async (text, path, records) => {
    const judgement = await judge(await folder.write('a.xml', text))
    expect([judgement.dialect.path, judgement.records]).toEqual([path, records])
  })

  it('is looked for beyond the beginning of a file', async () => {
    const much = `<u>${'<v><w/></v>'.repeat(30_000)}</u>`
    const text = `<s>${much}<offers>${'<offer><id>1</id></offer>'.repeat(3)}</offers></s>`
    expect((await judge(await folder.write('a.xml', text))).dialect.path).toBe('s/offers/offer')
  })

  it('that does not fit refuses the file and names those that may', async () => {
    const source = await folder.write('a.xml', '<a><b><c>1</c></b></a>')
    await expect(judge(source, { format: { path: 'rss/channel/item' } })).rejects.toMatchObject({
      code: 'path-not-found',
      message: 'a.xml: there are no records at rss/channel/item; found a, a/b, a/b/c',
    })
    await expect(judge(source)).rejects.toMatchObject({ code: 'path-not-found' })
  })
})

describe('a file is refused whole', () => {
  it.each([
    ['<rss><channel><item><id>1</id></item>', 'truncated', 'the element channel is never closed'],
    [
      '<rss><channel><item>\n<!-- x</item></channel></rss>',
      'not-well-formed',
      'the comment that begins in line 2',
    ],
    [
      '<rss><channel><item>\n<a href="?a&b=1;"/></item></channel></rss>',
      'not-well-formed',
      'line 2, column 12: found &',
    ],
    ['<rss><channel>\n<item></channel></rss>', 'not-well-formed', 'line 2, column 16: unexpected close tag'],
    [
      '<rss><channel><item><g:id/></item></channel></rss>',
      'not-well-formed',
      'unbound namespace prefix: "g"',
    ],
    ['<rss><channel><item a="1" a="2"/></channel></rss>', 'not-well-formed', 'duplicate attribute'],
    ['<rss><channel/></rss><rss/>', 'not-well-formed', 'only one root'],
    [
      '\n<?xml version="1.0"?>\n<shop/>',
      'not-well-formed',
      'line 2, column 6: an XML declaration must be at the start',
    ],
    ['<shop><item><id>a & b</id></item></shop>', 'not-well-formed', 'line 1, column 19: found &'],
    ['<shop><article><id>1</id>', 'truncated', 'the element article is never closed'],
    ['<!-- x -->\n<!DOCTYPE rss [<!ENTITY a "b">]><rss/>', 'doctype', 'line 2 '],
    [`<rss>${'<a>'.repeat(64)}`, 'too-deep', 'more than 64 elements'],
    ['<!DOCTYPE html><html><p>', 'unsupported-format', 'HTML'],
    [`<rss><channel><item>${'x'.repeat(3000)}</item></channel></rss>`, 'record-too-long', 'begins in line 1'],
  ])('%s', async (text, code, message) => {
    const source = await folder.write('a.xml', text)
    const isLong = code === 'record-too-long'
    // Less than a record, so that what does not end is found before the file does.
    await expect(judge(source, isLong ? { format: { recordBytes: 1000 } } : {})).rejects.toMatchObject({
      name: 'FileRefusedError',
      code,
      message: expect.stringContaining(message),
    })
  })
})
