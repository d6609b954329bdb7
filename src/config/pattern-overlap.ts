/** A part of a file name pattern: a fixed character, any one character, or any run of characters. */
type Token = { kind: 'character'; character: string } | { kind: 'any' } | { kind: 'run' }

const compressedSuffixes = ['', '.gz', '.zst', '.zip'] as const
const alternativesMax = 64

/**
 * Whether one file name can match both patterns. Exact for `*`, `?` and `{a,b}`; a pattern with more of the glob
 * language (`[…]`, `!(…)`) is taken to match anything where that part stands, so the answer is never a wrong "no".
 */
export function patternsOverlap(a: string, b: string): boolean {
  return expandForms(a).some((first) => expandForms(b).some((second) => tokensOverlap(first, second)))
}

/** All plain forms of a pattern: each alternative, with each suffix that a compressed file may carry. */
function expandForms(pattern: string): Token[][] {
  return expandBraces(pattern).flatMap((plain) =>
    compressedSuffixes.map((suffix) => tokenize(`${plain}${suffix}`)),
  )
}

function expandBraces(pattern: string): string[] {
  const pending = [pattern]
  const plain: string[] = []
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [match, inside] = /\{([^{}]*,[^{}]*)\}/.exec(next) ?? []
    if (match === undefined || inside === undefined) plain.push(next)
    else if (pending.length + plain.length > alternativesMax) plain.push(next.replace(match, '*'))
    else pending.push(...inside.split(',').map((alternative) => next.replace(match, () => alternative)))
  }
  return plain
}

function tokenize(pattern: string): Token[] {
  const simplified = pattern
    .replaceAll(/[!@+?*]\([^)]*\)/g, '*')
    .replaceAll(/\[[^\]]*\]/g, '?')
    .replaceAll(/\{[^}]*\}/g, '*')
  return Array.from(simplified, (character): Token => {
    if (character === '*') return { kind: 'run' }
    return character === '?' ? { kind: 'any' } : { kind: 'character', character }
  })
}

/** Follows both patterns over one text: a run takes whatever the other side stands for, single characters must agree. */
function tokensOverlap(a: readonly Token[], b: readonly Token[]): boolean {
  const width = b.length + 1
  const seen = new Set<number>()
  const pending = [0]
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    if (seen.has(state)) continue
    seen.add(state)
    const first = a[Math.floor(state / width)]
    const second = b[state % width]
    if (first === undefined && second === undefined) return true
    if (first?.kind === 'run' || second?.kind === 'run') {
      if (first !== undefined) pending.push(state + width)
      if (second !== undefined) pending.push(state + 1)
    } else if (first !== undefined && second !== undefined && agree(first, second)) {
      pending.push(state + width + 1)
    }
  }
  return false
}

function agree(a: Token, b: Token): boolean {
  return a.kind !== 'character' || b.kind !== 'character' || a.character === b.character
}
