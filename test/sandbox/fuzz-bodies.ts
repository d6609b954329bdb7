import fc from 'fast-check'
import { stringify as formatForm } from 'qs'

export interface EncodedBody {
  body: string | Uint8Array | undefined
  /** What a client would write there; undefined: nothing. */
  contentType: string | undefined
}

/** Values that programs stumble over. */
export const awkwardValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      null,
      true,
      false,
      0,
      1,
      -1,
      0.5,
      1e308,
      -1e-320,
      2 ** 53,
      '',
      ' ',
      '0',
      '1',
      'true',
      'null',
      '[]',
      '{}',
    ],
    ...[[], {}, [[]], [null], { $where: '1' }, { $or: {} }, { toString: 1 }, { length: -1 }, '__proto__'],
    ...[
      'constructor',
      '../..',
      '%00',
      '\u0000',
      '\ud800',
      '𝒳'.repeat(50),
      '(a+)+$',
      '[',
      '2026-13-45',
      'ÿ\u0085',
    ],
    ...[
      'x'.repeat(5_000),
      '9'.repeat(400),
      '-',
      'NaN',
      'Infinity',
      '1e999',
      'a@b.c',
      '@',
      '👩‍👩‍👧',
      '\r\nX: y',
    ],
  ),
  fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }),
)

export const awkwardText = fc.oneof(
  awkwardValue.map((value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))),
  fc.string({ unit: 'binary', maxLength: 10 }),
)

const awkwardKey = fc.oneof(
  fc.constantFrom(
    ...[
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      '',
      '$where',
      '$or',
      'id',
      'a[b]',
      'tags[]',
      '0',
    ],
    ...[
      'product_id',
      'custom_fields',
      'variations',
      'skus',
      'chatId',
      'columns_',
      'filter_value_',
      'date_range_to',
    ],
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
)

type Change = (value: unknown) => unknown

const change: fc.Arbitrary<Change> = fc.oneof(
  awkwardValue.map(
    (value): Change =>
      () =>
        value,
  ),
  fc.constant<Change>(() => undefined),
  fc.constant<Change>((value) => [value]),
  fc.constant<Change>((value) => ({ $not: value })),
  fc.constant<Change>((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value))),
  fc.tuple(awkwardKey, awkwardValue).map(
    ([key, value]): Change =>
      (old) => ({ ...spread(old), [key]: value }),
  ),
  fc.integer({ min: 2, max: 200 }).map(
    (levels): Change =>
      (value) =>
        nested(value, levels),
  ),
  // Three of these make 64,000 values; qs, which writes the form, fails from some 120,000.
  fc.integer({ min: 2, max: 40 }).map(
    (times): Change =>
      (value) =>
        Array.from({ length: times }, () => value),
  ),
)

/** A body with some of its values changed, anywhere in it. */
export const changesOf = fc.array(fc.tuple(fc.nat(200), change), { maxLength: 3 })

export function changed(body: unknown, changes: readonly (readonly [number, Change])[]): unknown {
  return changes.reduce((value: unknown, [place, apply]) => changeAt(value, place, apply), body)
}

/** Counts the places of a value in order, and changes the one that is meant. */
function changeAt(root: unknown, place: number, apply: Change): unknown {
  const total = countPlaces(root)
  let left = place % total
  const visit = (value: unknown): unknown => {
    if (left === 0) {
      left = -1
      return apply(value)
    }
    left -= 1
    if (Array.isArray(value)) return value.map((one) => (left < 0 ? one : visit(one)))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, left < 0 ? one : visit(one)]))
  }
  return visit(root)
}

function countPlaces(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, one) => sum + countPlaces(one), 1)
}

function nested(value: unknown, levels: number): unknown {
  return Array.from({ length: levels }).reduce<unknown>((inner) => [inner], value)
}

function spread(value: unknown): object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

export type Encoding = 'json' | 'form' | 'multipart' | 'none'

export function encode(body: unknown, encoding: Encoding): EncodedBody {
  if (body === undefined || encoding === 'none') return { body: undefined, contentType: undefined }
  switch (encoding) {
    case 'json':
      return { body: JSON.stringify(body) ?? '', contentType: 'application/json' }
    case 'form':
      return { body: formOf(body), contentType: 'application/x-www-form-urlencoded' }
    case 'multipart':
      return { body: multipartOf(body), contentType: 'multipart/form-data; boundary=xyz' }
    default:
      return encoding satisfies never
  }
}

function formOf(body: unknown): string {
  return typeof body === 'object' && body !== null
    ? formatForm(wellFormed(body))
    : `a=${String(body).toWellFormed()}`
}

/** What is no text cannot be percent-encoded. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(wellFormed)
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key.toWellFormed(), wellFormed(one)]))
}

function multipartOf(body: unknown): string {
  const parts = [...new URLSearchParams(formOf(body))].map(
    ([name, value]) => `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return `${parts.join('')}--xyz--\r\n`
}

/** Damage to the bytes of a body, whatever it says. */
export const damage: fc.Arbitrary<(body: Uint8Array) => Uint8Array> = fc.oneof(
  { weight: 12, arbitrary: fc.constant((body: Uint8Array) => body) },
  fc.nat(400).map((length) => (body: Uint8Array) => body.subarray(0, length % (body.length + 1))),
  fc
    .tuple(fc.nat(400), fc.uint8Array({ minLength: 1, maxLength: 4 }))
    .map(([at, bytes]) => (body: Uint8Array) => {
      const place = at % (body.length + 1)
      return Buffer.concat([body.subarray(0, place), bytes, body.subarray(place)])
    }),
  fc.constant((body: Uint8Array) => Buffer.concat([Buffer.from('\ufeff'), body])),
  fc.constant((body: Uint8Array) => Buffer.from(Buffer.from(body).toString('latin1'), 'utf16le')),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => () => bytes),
  fc
    .constantFrom('['.repeat(20_000), `{"a":`.repeat(5_000), '--xyz\r\n', '\u0000', '{"__proto__":{"a":1}}')
    .map((text) => () => Buffer.from(text)),
)
