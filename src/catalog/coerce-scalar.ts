import type { FieldKind } from '../api/contract/kinds.ts'
import { numberCoercer } from './coerce-number.ts'
import type { Coerce, CoerceOptions } from './coerce-options.ts'
import { encodeBlanks } from './encode-blanks.ts'
import { Problem } from './problem.ts'
import { textOf } from './text-of.ts'

export function scalarCoercer(kind: FieldKind, options: CoerceOptions): Coerce {
  switch (kind) {
    case 'number':
    case 'integer':
    case 'decimal-string':
    case 'integer-string':
      return numberCoercer(kind, options)
    case 'date':
      return dateCoercer(options)
    case 'url':
      return urlCoercer(options)
    default:
      return textCoercer(options)
  }
}

function urlCoercer(options: CoerceOptions): Coerce {
  const toText = textCoercer(options)
  return (value, notes) => {
    const text = toText(value, notes)
    return typeof text === 'string' ? encodeBlanks(text) : text
  }
}

function textCoercer({ describe, translate }: CoerceOptions): Coerce {
  return (value) => {
    const text = textOf(value)
    if (text !== undefined) return translate ? translate(text) : text
    return new Problem('not-text', {
      found: `found ${describe(value)}, expected a text`,
      remedy: 'give it as a string',
    })
  }
}

function dateCoercer({ describe, readDate }: CoerceOptions): Coerce {
  return (value) =>
    readDate(value) ??
    new Problem('not-a-date', {
      found: `found ${describe(value)}, which is no date in the configured form`,
      remedy: 'set date, such as date: DD.MM.YYYY, or correct it',
    })
}
