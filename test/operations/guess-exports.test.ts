import { expect, it } from 'vitest'
import { examine, exportNames, type Result, readExpectation } from './exports-support.ts'

/** What `init --from` reaches today; the goal is 32 of 40 right, and none silently wrong. */
const reached = { right: 36, silentlyWrong: 0 }

it('has expectations that say where they come from, with three whole products each', async () => {
  for (const name of await exportNames()) {
    const { platform, documentation, products } = await readExpectation(name)
    expect(platform, name).not.toBe('')
    expect(documentation, name).not.toBe('')
    expect(products.length, name).toBeGreaterThanOrEqual(3)
  }
})

it('reads exports of platforms that nobody prepared it for, with constants alone', async () => {
  const results: Result[] = []
  for (const name of await exportNames()) results.push(await examine(name))
  const count = (verdict: Result['verdict']) => results.filter((result) => result.verdict === verdict).length
  const table = tableOf(results)
  console.log(table)
  expect(count('silently wrong'), table).toBeLessThanOrEqual(reached.silentlyWrong)
  expect(count('right'), table).toBeGreaterThanOrEqual(reached.right)
}, 600_000)

function tableOf(results: readonly Result[]): string {
  return results
    .flatMap(({ name, verdict, details }) => [
      `${name.padEnd(28)}${verdict}`,
      ...details.map((line) => `    ${line}`),
    ])
    .join('\n')
}
