import { expect, it } from 'vitest'
import { type Endpoint, endpoints } from '../../../src/api/contract/endpoints.ts'
import { exampleBodies } from '../../../src/api/contract/examples.ts'
import { contractProblems } from '../../../src/api/contract/problems.ts'

const withBody = Object.values<Endpoint>(endpoints).flatMap(({ name, body }) =>
  body === undefined ? [] : [{ name, ...body }],
)

it.each(withBody)('the example of $name is what the contract accepts', ({ name, schema, many }) => {
  const example = exampleBodies[name as keyof typeof exampleBodies]
  expect(example).toBeDefined()
  for (const body of many ? (example as unknown[]) : [example])
    expect(contractProblems(schema, body)).toEqual([])
})
