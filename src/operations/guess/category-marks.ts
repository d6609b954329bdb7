/** What stands between the levels of a category, and between several categories of one cell. */
export interface CategoryMarks {
  separator?: string | undefined
  split?: string | undefined
  /** The other way to read the cells, where they do not show which is right. */
  other?: CategoryMarks & { mark: string; kind: 'levels' | 'several' | 'one' }
}

interface Cells {
  texts: readonly string[]
  /** The name says that it is one path. */
  isPath: boolean
}

const mark = /[^\S\n]*(?:([>\-–—→⇒»›▸►:|/\\%~,;&^@#•·=<]+)|\n)\s*/gu
const arrow = /[>→⇒»›▸►]|^::$|^\\+$|^\/{2,}$/
/** Of these, what stands first separates several, where another mark separates levels. */
const splitMarks: readonly ((mark: string) => boolean)[] = [
  (mark) => mark === '\n',
  (mark) => /^([&|%;,^@#~])\1+$/.test(mark),
  (mark) => mark === ';',
  (mark) => mark === '|',
  (mark) => mark === '^',
  (mark) => mark === '@',
  (mark) => mark === '#',
]
/** Names of categories have them, too. */
const levelMarks = [' - ', ' – ', ' — ', ':', '~', '--', '•', '·']
const inWords = new Set([' - ', ' – ', ' — ', ':'])
/** `Cups, Mugs & Glasses`: the comma is a part of the name. */
export const enumeration = /,.*(?:&|\b(?:and|und|et|y|och|og|e|en|i|a|ou|or|oder)\b)/iu

/** The marks between the words of a text, each once. */
export function marksIn(text: string): Set<string> {
  const found = new Set<string>()
  for (const match of text.trim().matchAll(mark)) {
    const before = text.trim()[match.index - 1] ?? ''
    const after = text.trim()[match.index + match[0].length] ?? ''
    const name = before && after ? nameOf(match[1] ?? '\n', match[0], { before, after }) : undefined
    if (name !== undefined) found.add(name)
  }
  return found
}

/** As a rule has it; undefined for what is a part of words. */
function nameOf(core: string, whole: string, beside: { before: string; after: string }): string | undefined {
  if (core === '\n') return core
  const blanks = Number(/^\s/.test(whole)) + Number(/\s$/.test(whole))
  const isInNumber = /\d/.test(beside.before) && /\d/.test(beside.after) && blanks === 0
  if (isInNumber && /^[/:,]$/.test(core)) return undefined
  if (/^[>→⇒»›▸►|\\~;^/,]$/.test(core)) return core
  if (/^[-–—]$/.test(core)) return blanks === 2 ? ` ${core} ` : undefined
  if (core === '<') return blanks === 2 ? ' < ' : undefined
  if (/^[•·]$/.test(core)) return core
  if (core === ':') return blanks === 1 ? undefined : core
  if (/^[@#]$/.test(core)) return blanks === 0 ? core : undefined
  return /^(.)\1+$/.test(core) || /^[-=~]+>+$/.test(core) ? core : undefined
}

export function findCategoryMarks({ texts, isPath }: Cells): CategoryMarks {
  const counts = countMarks(texts)
  const found = [...counts.keys()].sort((one, other) => (counts.get(other) ?? 0) - (counts.get(one) ?? 0))
  const least = Math.max(2, texts.length * 0.2)
  const kept = found.filter((mark) => !inWords.has(mark) || (counts.get(mark) ?? 0) >= least)
  const hasSlash = kept.includes('/') || texts.some((text) => /^\/\S/.test(text))
  const separator = found.find((mark) => arrow.test(mark)) ?? (hasSlash ? '/' : undefined)
  if (separator === undefined) return withoutLevels(kept, { texts, isPath })
  const others = kept.filter((mark) => mark !== separator)
  const slashes = texts.filter((text) => text.includes('/')).length
  const rivals = others.filter((mark) => (counts.get(mark) ?? 0) > 2 * slashes)
  // A slash in few names is a part of them.
  if (separator === '/' && rivals.length > 0) {
    const marks = withoutLevels(others, { texts, isPath })
    const [mark = ''] = rivals
    const split = marks.separator === undefined ? marks.split : undefined
    return { ...marks, other: marks.other ?? { separator, split, mark, kind: split ? 'several' : 'one' } }
  }
  const split = splitOf(others)
  if (split !== undefined || !others.includes(',')) return { separator, split }
  return withCommas(texts, separator)
}

function splitOf(marks: readonly string[]): string | undefined {
  for (const is of splitMarks) {
    const found = marks.find(is)
    if (found !== undefined) return found
  }
  return undefined
}

function countMarks(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) for (const mark of marksIn(text)) counts.set(mark, (counts.get(mark) ?? 0) + 1)
  return counts
}

/** Nothing that separates levels alone is there. */
function withoutLevels(found: readonly string[], { texts, isPath }: Cells): CategoryMarks {
  const comma = found.includes(',') ? withCommas(texts, undefined) : {}
  const marks = found.filter((mark) => mark !== ',' || comma.split !== undefined)
  const [first, second] = marks
  if (first === undefined) return comma
  if (second === undefined) {
    if (isPath) return { separator: first }
    return first === ',' ? comma : ofOneMark(first, texts)
  }
  const split = splitOf(marks) ?? (marks.includes(',') ? ',' : undefined)
  const separator = marks.find((mark) => mark !== split)
  return { separator, split, other: { separator: split, split: separator, mark: first, kind: 'levels' } }
}

function ofOneMark(mark: string, texts: readonly string[]): CategoryMarks {
  const levels = { separator: mark }
  const several = { split: mark }
  const isLevels = isTree(texts, mark)
  if (levelMarks.includes(mark))
    return {
      ...levels,
      other: inWords.has(mark) ? { mark, kind: 'one' } : { ...several, mark, kind: 'several' },
    }
  if (mark === '|' && isLevels) return { ...levels, other: { ...several, mark, kind: 'several' } }
  const isSpaced = mark === '|' && texts.some((text) => text.includes(' | '))
  const isSure = !isLevels && !isSpaced && /^[|;\n]$|^&+$/.test(mark)
  return isSure ? several : { ...several, other: { ...levels, mark, kind: 'levels' } }
}

/** A comma separates categories, or stands in the name of one. */
function withCommas(texts: readonly string[], separator: string | undefined): CategoryMarks {
  const listed = texts.filter((text) => marksIn(text).has(','))
  const whole = separator === undefined ? {} : { separator }
  const several = { ...whole, split: ',' }
  const standing = standingOf(texts, listed, separator)
  const isTight = listed.every((text) => !/,\s/.test(text))
  const isOfCodes = isTight && listed.every((text) => !/\s/.test(text))
  if (standing > 0.9 || (isTight && (isOfCodes || standing > 0.5))) return several
  if (standing === 0 && listed.every((text) => enumeration.test(text))) return whole
  const isFew = separator === undefined && listed.length <= texts.length * 0.3
  if (isFew && standing < 0.5 && !isTight) return listed.length < 2 ? whole : asOne(whole, several)
  const isLast = (text: string) => separator === undefined || (text.split(',')[0] ?? '').includes(separator)
  if (standing < 0.5 && !listed.every(isLast)) return asOne(whole, several)
  const other =
    separator === undefined
      ? ({ separator: ',', mark: ',', kind: 'levels' } as const)
      : ({ ...whole, mark: ',', kind: 'one' } as const)
  return { ...several, other }
}

function asOne(whole: CategoryMarks, several: CategoryMarks): CategoryMarks {
  return { ...whole, other: { ...several, mark: ',', kind: 'several' } }
}

/** Of what stands behind a comma: how much stands elsewhere, too, alone or beside something else. */
function standingOf(
  texts: readonly string[],
  listed: readonly string[],
  separator: string | undefined,
): number {
  const piecesOf = (text: string) => text.split(',').map((piece) => piece.trim())
  const levels = (path: string) =>
    separator === undefined ? [path] : path.split(separator).map((level) => level.trim())
  const alone = new Set(texts.filter((text) => !listed.includes(text)).map((text) => text.trim()))
  const roots = new Set(
    [...alone, ...listed.map((text) => piecesOf(text)[0] ?? '')].map((path) => levels(path)[0]),
  )
  const before = new Map<string, Set<string>>()
  for (const text of listed) {
    for (const [index, piece] of piecesOf(text).entries()) {
      const leaf = levels(piecesOf(text)[index - 1] ?? '').at(-1) ?? ''
      before.set(piece, (before.get(piece) ?? new Set()).add(leaf))
    }
  }
  const later = listed.flatMap((text) => piecesOf(text).slice(1)).filter((piece) => piece !== '')
  const standing = later.filter((piece) => {
    const [root] = levels(piece)
    const isPathOfItsOwn = separator !== undefined && piece.includes(separator) && roots.has(root)
    return alone.has(piece) || isPathOfItsOwn || (before.get(piece)?.size ?? 0) > 1
  })
  return later.length === 0 ? 0 : standing.length / later.length
}

/** What stands behind the first mark always stands below the same. */
function isTree(texts: readonly string[], mark: string): boolean {
  const parents = new Map<string, string>()
  const paths = texts
    .map((text) => text.split(mark).map((level) => level.trim()))
    .filter((path) => path.length > 1)
  const isSame = paths.every((path) =>
    path.slice(1).every((level, index) => {
      const parent = path[index] ?? ''
      const known = parents.get(level)
      if (known === undefined) parents.set(level, parent)
      return known === undefined || known === parent
    }),
  )
  const first = new Set(paths.map(([root]) => root))
  const isBelow = paths.every((path) => path.slice(1).every((level) => !first.has(level)))
  return isSame && paths.length > 0 && isBelow
}
