import type { Random } from './random.ts'

const google = 'http://base.google.com/ns/1.0'
const atom = 'http://www.w3.org/2005/Atom'

interface Shape {
  path: string
  open: readonly string[]
  close: readonly string[]
  record: string
}

const shapes: readonly Shape[] = [
  { path: 'r/i', open: ['<r>'], close: ['</r>'], record: 'i' },
  { path: 'r/i', open: ['<r xmlns:g="', google, '" xmlns:x="urn:x">'], close: ['</r>'], record: 'i' },
  {
    path: 'rss/channel/item',
    open: ['<rss version="2.0" xmlns:g="', google, '">', '<channel>', '<title>', 'T', '</title>'],
    close: ['</channel>', '</rss>'],
    record: 'item',
  },
  {
    path: 'feed/entry',
    open: ['<feed xmlns="', atom, '" xmlns:g="', google, '">'],
    close: ['</feed>'],
    record: 'entry',
  },
  {
    path: 'feed/entry',
    open: ['<a:feed xmlns:a="', atom, '" xmlns:k="', google, '">'],
    close: ['</a:feed>'],
    record: 'a:entry',
  },
  { path: 'i/i', open: ['<i>'], close: ['</i>'], record: 'i' },
  { path: 'g:r/g:i', open: ['<r xmlns="', google, '">'], close: ['</r>'], record: 'i' },
  { path: 'r', open: [], close: [], record: 'r' },
]

const names = [
  'a',
  'b',
  'g:id',
  'g:price',
  'title',
  'i',
  'item',
  'x:y',
  'é',
  'a-b.c',
  '_',
  '__proto__',
  'entry',
]
const texts = [
  ...[
    'A1',
    ' ',
    '\n  ',
    'Größe 42',
    '12.50 EUR',
    '価格 💶',
    '>',
    ']]',
    '--',
    '"',
    "'",
    '/>',
    '\t',
    '\r\n',
    '\r',
  ],
  ...[
    '&amp;',
    '&lt;',
    '&gt;',
    '&quot;',
    '&apos;',
    '&#65;',
    '&#x1F4B6;',
    '&#10;',
    '&#xD;',
    '\u0085',
    '\u2028',
  ],
]
const sections = [
  '<![CDATA[x]]>',
  '<![CDATA[<b>&nbsp;</b>]]>',
  '<![CDATA[]]>',
  '<![CDATA[]]]]><![CDATA[>]]>',
  '<![CDATA[</i></item>]]>',
  '<![CDATA[a]><i>]] >]]>',
  '<!-- a -->',
  '<!---->',
  '<!-- <i> </i> " \' -->',
  '<!--<item>-->',
  '<!-- ->\n<i> - -->',
  '<?p ?a>?>',
  '<?p a="1"?>',
  '<?p </i> ?>',
  '<?p?>',
]
const broken = [
  ...[
    '<',
    '>',
    '&',
    '&bogus;',
    '&amp',
    '&;',
    '&#;',
    '&#x110000;',
    '&#0;',
    ']]>',
    '<![CDATA[',
    '<!--',
    '-->',
    '--',
  ],
  ...[
    '<!-- -- -->',
    '<!DOCTYPE r>',
    '<!DOCTYPE r [<!ENTITY a "b">]>',
    '<?xml version="1.0"?>',
    '<?',
    '?>',
    '<!',
    '</',
  ],
  ...[
    '<a',
    '</a>',
    '<a>',
    '<a/',
    '<z:a/>',
    '<a b>',
    '<a b=c>',
    '<a b="1" b="2"/>',
    '<a b="<"/>',
    "<a b='\"'/>",
    '\0',
  ],
  ...[
    '\u0001',
    '\ufffe',
    '\ufeff',
    '</i>',
    '<i>',
    '</item>',
    '</r>',
    '<i/>',
    '< a/>',
    '</ a>',
    '<a xmlns:g=""/>',
    '<1/>',
  ],
  ...[
    "<a b='&lt;>' />",
    '<a\n>',
    '</a\n>',
    '<a b="&bogus;"/>',
    '<a\u0085/>',
    '<a b="1"c="2"/>',
    '<xml/>',
    '<a:b:c/>',
  ],
]
const heads = [
  '<?xml version="1.0" encoding="UTF-8"?>',
  '<?xml version="1.0"?>\n',
  "<?xml version='1.0' standalone='yes'?>",
  '<?xml version="1.1"?>',
  '\n',
  '<!-- made by -->\n',
  '<?xml version="1.0" encoding="ISO-8859-1" ?>\r\n<!-- a --><?p?>',
]

/** An XML document in parts that are its tokens, with what makes it none in some, and the path of its records. */
export function generateXml(random: Random): { path: string; parts: string[] } {
  const shape = random.pick(shapes)
  const parts: string[] = random.chance(0.4) ? [random.pick(heads)] : []
  parts.push(...shape.open)
  const count = shape.open.length === 0 ? 1 : random.below(5)
  for (let at = 0; at < count; at++) {
    if (random.chance(0.2)) between(random, parts)
    element(random, parts, { name: random.chance(0.93) ? shape.record : plain(random), levels: 3 })
  }
  if (random.chance(0.2)) between(random, parts)
  parts.push(...shape.close)
  if (random.chance(0.2)) parts.push(random.pick(['\n', ' ', '<!-- end -->', '<?p?>', '\r\n']))
  return { path: shape.path, parts: spoil(random, parts) }
}

function plain(random: Random): string {
  return random.pick(names.filter((name) => !name.includes(':')))
}

function between(random: Random, parts: string[]): void {
  if (parts.some((part) => part.startsWith('<') && !/^<[?!]/.test(part)))
    parts.push(random.chance(0.5) ? random.pick(sections) : random.pick(texts))
}

function element(random: Random, parts: string[], { name, levels }: { name: string; levels: number }): void {
  parts.push(`<${name}`)
  const attributes = random.chance(0.75) ? 0 : random.between(1, 3)
  for (let at = 0; at < attributes; at++) {
    const quote = random.pick(['"', '"', "'"])
    const value = random.chance(0.5) ? random.pick(texts).replaceAll(quote, '').replace(/\]\]$/, '') : 'v>1'
    parts.push(
      random.pick([' ', '\n', '\t ']),
      `${random.pick(['a', 'b', 'c', 'xml:lang'])}${at}=${quote}${value}${quote}`,
    )
  }
  if (random.chance(0.05))
    parts.push(
      random.pick([
        ' xmlns="urn:d"',
        ' xmlns=""',
        ` xmlns:g="${google}"`,
        ` xmlns:x="urn:x"`,
        ` xmlns="${atom}"`,
      ]),
    )
  if (random.chance(0.05)) parts.push(' ')
  if (random.chance(0.12)) {
    parts.push('/>')
    return
  }
  parts.push('>')
  const children = levels === 0 || random.chance(0.3) ? 0 : random.below(5)
  for (let at = 0; at < children; at++) {
    if (random.chance(0.2)) parts.push(random.pick(['\n', '  ', random.pick(texts)]))
    const child = random.chance(0.25) ? random.pick(names) : plain(random)
    element(random, parts, { name: child, levels: levels - 1 })
  }
  if (children === 0 || random.chance(0.1)) {
    for (let count = random.below(4); count > 0; count--)
      parts.push(random.chance(0.75) ? random.pick(texts) : random.pick(sections))
  }
  parts.push(`</${name}`, random.chance(0.97) ? '>' : '\n>')
}

function spoil(random: Random, parts: string[]): string[] {
  if (parts.length === 0 || !random.chance(0.35)) return parts
  const spoilt = [...parts]
  for (let times = random.between(1, 2); times > 0; times--) {
    const at = random.below(spoilt.length + 1)
    const what = random.below(6)
    if (what < 3) spoilt.splice(at, 0, random.pick(broken))
    else if (what === 3) spoilt.splice(at, 1)
    else if (what === 4) spoilt.splice(at, 0, spoilt[random.below(spoilt.length)] ?? '')
    else spoilt.length = Math.max(at, spoilt.length >> 1)
  }
  return spoilt
}
