import { stringify } from 'yaml'
import { safeLine } from '../../lib/terminal-text.ts'
import type { RuleGuess } from './model.ts'

/** One key of a feed with its comment. Keys with a dot stand below the part before it; an empty key is a comment alone. */
export interface FeedLine {
  key: string
  value: unknown
  comment: string
  /** Somebody has to look at it. */
  open?: true | undefined
}

/** A question that belongs to no key. */
export function checkLine(comment: string): FeedLine {
  return { key: '', value: undefined, comment, open: true }
}

export function feedLines(rules: readonly RuleGuess[]): FeedLine[] {
  return rules.map(({ field, rule, comment, open }) => {
    const line = { key: `fields.${field}`, value: rule, comment }
    return open ? { ...line, open } : line
  })
}

/** A feed as YAML, `indent` blanks deep; its first line is its name. */
export function feedText(name: string, lines: readonly FeedLine[], indent: number): string {
  const blanks = ' '.repeat(indent)
  const own = lines.filter(({ key }) => !key.startsWith('fields.'))
  const fields = lines.filter(({ key }) => key.startsWith('fields.'))
  const text = own.filter(({ key }) => key !== '').map((line) => `${blanks}  ${entry(line.key, line)}`)
  if (fields.length > 0) {
    text.push(`${blanks}  fields:`)
    text.push(...fields.map((line) => `${blanks}    ${entry(line.key.slice('fields.'.length), line)}`))
  }
  text.push(...own.filter(({ key }) => key === '').map((line) => `${blanks}    # ${words(line)}`))
  return `${blanks}${name}:\n${text.join('\n')}\n`
}

function entry(key: string, { value, comment, open }: FeedLine): string {
  return `${keyText(key, value)}   # ${words({ comment, open })}`
}

/** A key and its value as they stand in a line of the configuration. */
export function keyText(key: string, value: unknown): string {
  const yaml = stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true }).trim()
  // A header of several lines would end the line, and its comment; JSON is YAML, too.
  return `${key}: ${yaml.includes('\n') ? JSON.stringify(value) : yaml}`
}

/** Of one line: headers and values stand in it, and what came behind a line feed would be no comment. */
function words({ comment, open }: Pick<FeedLine, 'comment' | 'open'>): string {
  return safeLine(open ? `CHECK: ${comment}` : comment)
}
