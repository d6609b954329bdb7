import type { CallResponse } from './call-outcome.ts'

export type ResponseBody =
  | { kind: 'empty' }
  | { kind: 'json'; value: unknown }
  /** Of a proxy, a login page, or a web site at a wrong address. */
  | { kind: 'html'; title: string }
  | { kind: 'text'; text: string }

export function readBody({ body, headers }: Pick<CallResponse, 'body' | 'headers'>): ResponseBody {
  const text = body.trim()
  if (text === '') return { kind: 'empty' }
  const value = parseJson(text)
  if (value !== undefined) return { kind: 'json', value }
  const isHtml = /^<(!doctype\s+html|html|head|body)\b/i.test(text) || /\bhtml\b/i.test(contentType(headers))
  return isHtml ? { kind: 'html', title: titleOf(text) } : { kind: 'text', text }
}

function contentType(headers: CallResponse['headers']): string {
  return headers['content-type'] ?? ''
}

function titleOf(html: string): string {
  return /<title[^>]{0,200}>([^<]{0,5000})/i.exec(html)?.[1]?.trim() ?? ''
}

/** One line without control characters, of bounded length. */
export function toLine(text: string, charactersMax: number): string {
  const line = text
    .slice(0, 4 * charactersMax)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return line.length > charactersMax ? `${line.slice(0, charactersMax)}…` : line
}

const integerForm = /^-?\d+$/

/**
 * Whole numbers too large for a double, which can only be ids, keep all their digits: they come as texts. Undefined for
 * what is not JSON.
 */
export function parseJson(text: string): unknown {
  const keepDigits = (_key: string, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
    const { source } = context ?? {}
    return source !== undefined && integerForm.test(source) ? source : value
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''), keepDigits)
  } catch {
    return undefined
  }
}
