import type { FieldFact, ParameterFact, TextForm } from './fact.ts'

type Valued = Omit<FieldFact, 'about' | 'resource' | 'field'> | ParameterFact

const formed: Record<TextForm, { accepted: readonly unknown[]; refused: readonly unknown[] }> = {
  filled: { accepted: ['Some words'], refused: [''] },
  email: { accepted: ['ann@shop.example', 'ann+news@shop.example'], refused: ['no address', 'ann@'] },
  'time zone': { accepted: ['Europe/Berlin', 'Asia/Kolkata', 'UTC'], refused: ['Berlin time', '+01:00'] },
  'date-time': {
    accepted: ['2026-03-01T08:00:00Z', '2026-03-01T08:00:00.5+01:00'],
    refused: ['yesterday', '2026-02-30T08:00:00Z'],
  },
  date: { accepted: ['2026-03-01'], refused: ['01.03.2026', '2026-02-30'] },
  decimal: { accepted: ['4.5', '4'], refused: ['4,5', 'good'] },
  integer: { accepted: ['12'], refused: ['1.5', 'many'] },
  categories: { accepted: [['Home/Kitchen'], []], refused: [['Home > Kitchen'], ['Home//Kitchen']] },
  groups: {
    accepted: ['1', '1,3', ['1', '2'], [3], []],
    refused: ['4', 'Admin', ['4'], [2, 0]],
  },
  country: { accepted: ['DE', 'US'], refused: ['Germany', 'ZZ'] },
  language: { accepted: ['en', 'pt-BR'], refused: ['Klingon words', '1'] },
}

const notAText = { not: 'a text' }

/** Values that the contract accepts for a field or parameter: at least one. */
export function acceptedValues(fact: Valued): unknown[] {
  const { values, seen = [], samples = [], nullable, form } = fact
  const named = form === 'groups' ? [] : (values ?? [])
  const own = form === undefined ? byType(fact).accepted : formed[form].accepted
  return [...(named.length > 0 ? named : own), ...seen, ...samples, ...(nullable ? [null] : [])]
}

/** Values that it refuses, in whatever encoding they come: at least one. */
export function refusedValues(fact: Valued): unknown[] {
  const ofForm = fact.form === undefined ? [] : formed[fact.form].refused
  const ofValues = fact.values === undefined || fact.form !== undefined ? [] : ['none-of-these']
  return [...ofForm, ...ofValues, ...byType(fact).refused]
}

function byType(fact: Valued): { accepted: readonly unknown[]; refused: readonly unknown[] } {
  switch (fact.type) {
    case 'text':
      return { accepted: ['Some words'], refused: [notAText] }
    case 'url':
      return { accepted: ['https://shop.example/a?b=c'], refused: ['not an address', notAText] }
    case 'integer':
      return integers(fact)
    case 'number':
      return { accepted: [19.99, 0, 100], refused: ['many', notAText] }
    case 'flag':
      return { accepted: [1, 0], refused: [2, 'maybe'] }
    case 'boolean':
      return { accepted: [true, false], refused: ['maybe', notAText] }
    case 'boolean or text':
      return { accepted: [true, false], refused: [notAText] }
    case 'object':
      return { accepted: [{}], refused: ['no object', 3] }
    case 'map':
      return { accepted: [{ colour: 'red' }, {}], refused: [{ colour: {} }, 'no object'] }
    case 'list':
      return { accepted: [['a', 'b'], [1], []], refused: [true] }
    case 'texts':
      return { accepted: [['a', 'b'], []], refused: [[{}], true] }
    case 'urls':
      return { accepted: [['https://shop.example/b']], refused: [['not an address'], true] }
    case 'objects':
      return { accepted: [[{}], []], refused: [[3], true] }
    case 'text or list':
      return { accepted: ['1', ['1']], refused: [notAText, true] }
    case 'timestamp':
      return { accepted: ['2026-03-01T08:00:00Z', 1772352000], refused: [] }
    default:
      return fact.type satisfies never
  }
}

function integers({ range }: Valued): { accepted: readonly unknown[]; refused: readonly unknown[] } {
  const { min, max } = range ?? {}
  return {
    accepted: [min ?? 25, max ?? 40],
    refused: ['many', 1.5, ...(min === undefined ? [] : [min - 1]), ...(max === undefined ? [] : [max + 1])],
  }
}
