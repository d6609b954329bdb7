import type { FieldFact } from './fact.ts'

// How the record reads is not shown; an update takes any part of what a rule is created with.
const field = (name: string, fact: Omit<FieldFact, 'about' | 'resource' | 'field'>): FieldFact => ({
  about: 'field',
  resource: 'rule',
  field: name,
  create: true,
  update: true,
  required: true,
  ...fact,
})

export const ruleFacts: readonly FieldFact[] = [
  field('name', { type: 'text', form: 'filled' }),
  field('trigger', { type: 'object', words: ['$or'] }),
  field('action', { type: 'objects' }),
  field('enabled', { type: 'flag', seen: [1] }),
  field('type', { type: 'text', form: 'filled' }),
]
