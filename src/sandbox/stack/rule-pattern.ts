import { RE2JS, RE2JSException } from 're2js'

const patternCharactersMax = 1_000
/** Matching takes time in proportion to it; what people write stays below a hundred. */
const programSizeMax = 500

const flagsByOption: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  // Texts are always read as Unicode.
  u: 0,
}

export interface RulePattern {
  pattern: string
  options: string
}

/**
 * Finds the pattern anywhere in a text. RE2 has no backtracking, so that no pattern keeps the sandbox busy for longer
 * than the text is long. Returns a sentence when RE2 does not take the pattern.
 */
export function compileRulePattern({ pattern, options }: RulePattern): ((text: string) => boolean) | string {
  if (pattern.length > patternCharactersMax) {
    return `the pattern has ${pattern.length} characters; ${patternCharactersMax} are the most`
  }
  let flags = 0
  for (const option of options) {
    const flag = Object.hasOwn(flagsByOption, option) ? flagsByOption[option] : undefined
    if (flag === undefined)
      return `the option ${JSON.stringify(option)} does not exist; known are i, m, s and u`
    flags |= flag
  }
  try {
    const compiled = RE2JS.compile(pattern, flags)
    if (compiled.programSize() > programSizeMax) return 'the pattern is too large; use smaller repeat counts'
    return (text) => compiled.matcher(text).find()
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const reason = error.message.replace(/^error parsing regexp: /, '')
    return `RE2 refuses the pattern: ${reason}; lookarounds and back-references do not exist in it`
  }
}
