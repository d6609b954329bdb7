import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatPlan } from '../cli/stack-format.ts'
import { openStack } from '../operations/stack-access.ts'
import { applyStackPlan, planStackFiles } from '../operations/stack-files.ts'
import { printText, printTitle } from './print.ts'
import type { TemporaryDaemon } from './temporary-daemon.ts'

const files = {
  'rules.yaml': `- name: Summer at the lake
  type: tile
  enabled: 1
  trigger: { $or: [{ text: { $regex: lake } }] }
  action: [{ type: $addToSet, field: tags, value: lake }]
`,
  'terms.yaml': `- name: lakeside
  type: hashtag
  network: instagram
  term: lakeside
  active: true
  moderate_image: queue
`,
  'moderation-views.yaml': `- view_name: Queue
  sort_by: newest
  columns_preview_col: true
  columns_tags_col: true
`,
}

/** Files, a plan, what it does, and a plan that is empty then; and a rule that really changes tiles. */
export async function showStack({ workDir, operation }: TemporaryDaemon): Promise<void> {
  printTitle('6. The Stack as files')
  const dir = join(workDir, 'stack')
  await mkdir(dir)
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
  printText(`A rule, a term and a moderation view stand in ${Object.keys(files).join(', ')}.`)
  const { config, clock, signal } = operation
  await using client = openStack({ config, clock, onWait: () => undefined })
  const options = { dir, prune: false, signal }

  const { plan } = await planStackFiles(client, options)
  printRun('stack plan', formatPlan({ plan, prune: false }))
  const { done, failed } = await applyStackPlan(client, { plan, signal })
  printRun('stack apply --yes', `${done.length} done, ${failed.length} failed`)
  const { plan: rest } = await planStackFiles(client, options)
  printRun('stack plan', formatPlan({ plan: rest, prune: false }))

  const [rule] = await client.rules.list({ signal })
  if (rule === undefined) throw new Error('the rule was not created')
  const applied = (await client.rules.apply(rule.id, { signal })) as AppliedRule
  const { records, matched, changed } = applied
  printRun(`stack rules apply ${rule.id}`, `${records} tiles, ${matched} match, ${changed} changed`)
}

/** What the sandbox answers; the contract does not show it. */
interface AppliedRule {
  records: number
  matched: number
  changed: number
}

function printRun(command: string, output: string): void {
  printText(`  $ catalogd ${command}`)
  for (const line of output.split('\n')) printText(`  ${line}`)
}
