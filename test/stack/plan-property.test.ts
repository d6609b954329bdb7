import fc from 'fast-check'
import { expect, it } from 'vitest'
import { kindOf } from '../../src/api/contract/fields.ts'
import { fieldSchemaOf, kindRules } from '../../src/stack/kinds.ts'
import { type Fields, type StackKind, stackKinds } from '../../src/stack/model.ts'
import { planStack } from '../../src/stack/plan.ts'
import { itemsOf } from './arbitraries.ts'
import { applySteps, existingOf, noRecords, pulled, type Records, toRecords } from './memory-stack.ts'

const runs = { numRuns: 40 }
const stack = fc.record(itemsOf).map(toRecords)
const kind = fc.constantFrom(...stackKinds)

function planOf(files: Records, service: Records, prune = false) {
  const planned = planStack({ desired: pulled(files), existing: existingOf(service), prune })
  if (planned.kind === 'problems') throw new Error(JSON.stringify(planned.problems))
  return planned.plan
}

it('finds nothing to do for what was pulled just now', () => {
  fc.assert(
    fc.property(stack, (records) => {
      expect(planOf(records, records, true)).toEqual({
        steps: [],
        unchanged: stackKinds.flatMap((one) => records[one]).length,
        notInFiles: [],
        unnamed: [],
        warnings: [],
      })
    }),
    runs,
  )
})

it('finds nothing to do after its own steps, whatever was there before, when the users are the same', () => {
  const sameUsers = ([files, service]: [Records, Records]): [Records, Records] => [
    files,
    {
      ...service,
      users: files.users.map((user) => ({ id: user.id, username: user.username, description: 'x' })),
    },
  ]
  fc.assert(
    fc.property(fc.tuple(stack, stack).map(sameUsers), fc.boolean(), ([files, service], prune) => {
      const after = applySteps(service, planOf(files, service, prune).steps)
      const again = planOf(files, after, prune)
      expect(again.steps).toEqual([])
      if (prune) expect(again.notInFiles).toEqual([])
    }),
    runs,
  )
})

it('makes an empty Stack so that the same files come out of it', () => {
  fc.assert(
    fc.property(stack, (records) => {
      const files = { ...records, users: [] }
      const after = applySteps(noRecords, planOf(files, noRecords).steps)
      expect(namesAndFields(pulled(after))).toEqual(namesAndFields(pulled(files)))
    }),
    runs,
  )
})

it('plans the same, in whatever order the items come', () => {
  const shuffled = (records: Records) =>
    fc
      .tuple(
        ...stackKinds.map((one) =>
          fc.shuffledSubarray([...records[one]], { minLength: records[one].length }),
        ),
      )
      .map(
        (lists): Records =>
          Object.fromEntries(stackKinds.map((one, at) => [one, lists[at]])) as unknown as Records,
      )
  fc.assert(
    fc.property(
      stack.chain((files) => fc.tuple(fc.constant(files), shuffled(files))),
      stack.chain((service) => fc.tuple(fc.constant(service), shuffled(service))),
      ([files, filesToo], [service, serviceToo]) => {
        const existing = existingOf({ ...service, users: files.users })
        const existingToo = existingOf({ ...serviceToo, users: files.users })
        const one = planStack({ desired: pulled(files), existing, prune: true })
        expect(planStack({ desired: pulled(filesToo), existing: existingToo, prune: true })).toEqual(one)
      },
    ),
    runs,
  )
})

it('takes the forms in which services write a value for the value', () => {
  const oneKind = kind.chain((one) => itemsOf[one].map((items) => [one, items] as const))
  fc.assert(
    fc.property(oneKind, fc.infiniteStream(fc.nat(3)), ([one, items], choices) => {
      const inAnotherForm = items.map((fields) => inOtherForms(one, fields, () => choices.next().value ?? 0))
      const planned = planStack({
        desired: pulled(toRecords({ [one]: items }), [one]),
        existing: existingOf(toRecords({ [one]: inAnotherForm })),
        prune: true,
      })
      expect(planned).toMatchObject({ plan: { steps: [], unchanged: items.length } })
    }),
    runs,
  )
})

function namesAndFields(items: ReturnType<typeof pulled>) {
  return stackKinds.map((one) => (items[one] ?? []).map(({ name, fields }) => ({ name, fields })))
}

function inOtherForms(one: StackKind, fields: Fields, choose: () => number): Fields {
  const rules = kindRules[one]
  const entries = Object.entries(fields).map(([field, value]) => {
    const schema = fieldSchemaOf(rules, field)
    const written =
      field === rules.nameField || schema === undefined ? [value] : formsOf(kindOf(schema), value)
    return [field, written[choose() % written.length]] as const
  })
  return Object.fromEntries(entries)
}

function formsOf(wireKind: ReturnType<typeof kindOf>, value: unknown): unknown[] {
  if (value === '') return ['', null]
  switch (wireKind) {
    case 'boolean':
    case 'flag':
      return typeof value === 'string' ? [value] : [value, value ? 1 : 0, value ? '1' : '0', Boolean(value)]
    case 'integer':
      return [value, String(value)]
    case 'comma-separated':
      return [value, String(value).split(','), String(value).split(',').reverse().join(', ')]
    case 'list':
      if (typeof value === 'string') return [value, value.split(',').map(Number), value.split(',').reverse()]
      return [value, JSON.stringify(value)]
    case 'object':
      return [value, JSON.stringify(value)]
    default:
      return [value]
  }
}
