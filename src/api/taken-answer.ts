import type { CallResponse } from './call-outcome.ts'
import { isObject } from './contract/json-value.ts'
import { hideSecrets } from './hide-secrets.ts'
import { type ResponseBody, readBody, toLine } from './response-body.ts'

/** Groups of the API whose calls are answered with nothing but whether they were taken. */
export type TakingGroup = 'products' | 'consent'

/**
 * What a 2xx says. A web page, or another server at that address, answers 2xx to everything, so the body decides, too:
 *
 * | body                                           | product upsert | consent |
 * |------------------------------------------------|----------------|---------|
 * | `{}`; none, with a 204                         | taken          | taken   |
 * | `errors` (with `type`, `message`) that is empty | taken         | taken   |
 * | the same with entries                          | errors         | errors  |
 * | none, with any other status                    | foreign        | taken   |
 * | other JSON, a plain text                       | foreign        | taken   |
 * | a web page, XML, broken JSON                   | foreign        | foreign |
 * | longer than is read, or cannot be decoded      | foreign        | foreign |
 *
 * The facts of the wire show the body of an upsert, whatever its content type and whichever 2xx it comes with. They show
 * none of a consent call: only what cannot come from an API is foreign there.
 */
export type TakenAnswer =
  | { kind: 'taken' }
  /** The API answers that it did not take all. */
  | { kind: 'errors' }
  /** Nothing shows that the API has seen the call. `found`: what came instead, in one line. */
  | { kind: 'foreign'; found: string }

export function readTaken(
  response: CallResponse,
  group: TakingGroup,
  secrets: readonly string[],
): TakenAnswer {
  const foreign = (): TakenAnswer => ({ kind: 'foreign', found: describe(response, body, secrets) })
  const body = readBody(response)
  if (response.cut || body.kind === 'html') return foreign()
  if (body.kind === 'json' && isObject(body.value)) {
    const { value } = body
    if (hasEntries(value.errors)) {
      return group === 'consent' || isUpsertForm(value) ? { kind: 'errors' } : foreign()
    }
    if (isUpsertForm(value)) return { kind: 'taken' }
  }
  if (body.kind === 'empty' && response.status === 204) return { kind: 'taken' }
  const isBroken = body.kind === 'text' && /^[<{[]/.test(body.text)
  return group === 'consent' && !isBroken ? { kind: 'taken' } : foreign()
}

const upsertFields: ReadonlySet<string> = new Set(['type', 'message', 'errors'])

/** `{}`, or a list of errors with the fields beside it that the facts show. */
function isUpsertForm(value: Record<string, unknown>): boolean {
  const names = Object.keys(value)
  return names.length === 0 || ('errors' in value && names.every((name) => upsertFields.has(name)))
}

function hasEntries(errors: unknown): boolean {
  if (errors === undefined || errors === null || errors === '' || errors === false) return false
  return typeof errors !== 'object' || Object.keys(errors).length > 0
}

const beginningCharactersMax = 100

function describe(
  { headers, body: text, cut }: CallResponse,
  body: ResponseBody,
  secrets: readonly string[],
): string {
  const shown = (said: string) => toLine(hideSecrets(said, secrets), beginningCharactersMax)
  const type = shown(headers['content-type'] ?? '') || 'no content type'
  const isTitled = body.kind === 'html' && body.title !== ''
  const beginning = isTitled ? `a web page (${shown(body.title)})` : shown(text) || 'an empty body'
  return `${type}: ${beginning}${cut ? `, which is ${cut}` : ''}`
}
