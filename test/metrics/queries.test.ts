import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { families } from '../../src/metrics/families.ts'
import { headingsOf, readPage, section, tableRows } from '../docs/pages.ts'

// What ships for Grafana and Prometheus, by the grammar of PromQL, asks only for metrics and labels that exist.

interface Query {
  where: string
  text: string
}

const read = (path: string) => readFileSync(new URL(`../../config/${path}`, import.meta.url), 'utf8')

interface Panel {
  title: string
  targets?: { expr: string }[]
}

interface Rule {
  alert: string
  expr: string
  annotations: { summary: string; description: string; runbook: string }
}

const dashboard = JSON.parse(read('grafana/catalogd.json')) as { panels: Panel[] }
const { groups } = parse(read('prometheus/catalogd.rules.yml')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)

const queries: Query[] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: title, text: expr })),
  ),
  ...rules.map(({ alert, expr }) => ({ where: alert, text: expr })),
]

/** Grafana's own, as it fills them in. */
const filledIn = (text: string) => text.replaceAll('$__rate_interval', '1m').replaceAll('$catalog', 'main')

/** Metrics and labels of a query; throws where it is none. */
function namesOf({ where, text }: Query): { metrics: string[]; labels: string[] } {
  const query = filledIn(text)
  const [metrics, labels]: [string[], string[]] = [[], []]
  parser.parse(query).iterate({
    enter({ type, from, to }) {
      if (type.isError) throw new Error(`${where}: no PromQL at ${from}: ${query}`)
      const name = query.slice(from, to)
      const [isMetric, isLabel] = [type.name === 'Identifier', type.name === 'LabelName']
      if (isMetric) metrics.push(name)
      if (isLabel) labels.push(name)
    },
  })
  return { metrics, labels }
}

/** Of each time series: the families, and what a histogram exposes in its place. */
const labelsOf = new Map<string, readonly string[]>([
  ['up', ['job', 'instance']],
  ...families.flatMap(({ name, type, labels }): [string, readonly string[]][] =>
    type === 'histogram'
      ? [
          [`${name}_bucket`, [...labels, 'le']],
          [`${name}_sum`, labels],
          [`${name}_count`, labels],
        ]
      : [[name, labels]],
  ),
])

describe('queries', () => {
  it('are there', () => {
    expect(queries.length).toBeGreaterThan(40)
    expect(rules.every(({ annotations }) => annotations.summary && annotations.description)).toBe(true)
  })

  it.each(queries.map((query) => [query.where, query.text]))('%s: %s', (where, text) => {
    const { metrics, labels } = namesOf({ where, text })
    expect(metrics.length).toBeGreaterThan(0)
    expect(metrics.filter((name) => !labelsOf.has(name))).toEqual([])
    const known = new Set(metrics.flatMap((name) => labelsOf.get(name) ?? []))
    expect(labels.filter((label) => !known.has(label))).toEqual([])
  })

  it('are refused where they are no PromQL', () => {
    expect(() => namesOf({ where: 'wrong', text: 'sum by (lane (catalogd_products)' })).toThrow('no PromQL')
    expect(() => namesOf({ where: 'wrong', text: 'rate(catalogd_calls_total[1x])' })).toThrow('no PromQL')
  })

  it('watch every metric of the daemon itself', () => {
    const asked = new Set(queries.flatMap((query) => namesOf(query).metrics))
    const own = [...labelsOf.keys()].filter(
      (name) => name.startsWith('catalogd_') && !/_(sum|count)$/.test(name),
    )
    // Shown where somebody asks for them.
    const notAsked = [
      'catalogd_failed_calls_in_a_row',
      'catalogd_waiting_consents',
      'catalogd_dead_consents',
      'catalogd_build_info',
    ]
    expect(own.filter((name) => !asked.has(name)).sort()).toEqual(notAsked.sort())
  })
})

describe('each alert rule', () => {
  it.each(rules.map(({ alert, annotations }) => [alert, annotations.runbook]))(
    '%s leads to %s, which is there',
    (_, runbook) => {
      const { page, anchors } = placesOf(runbook)
      for (const anchor of anchors) expect(headingsOf(page)).toContain(anchor)
    },
  )
})

describe('docs/metrics.md', () => {
  it('lists each metric as it is exposed', () => {
    const rows = families.map(({ name, type, labels, help }) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', '),
      help,
    ])
    expect(tableRows(section('metrics.md', '## All metrics'))).toEqual(rows)
  })

  it('lists each alert rule', () => {
    const rows = rules.map(({ alert, annotations }) => [
      `\`${alert}\``,
      annotations.description,
      linksTo(annotations),
    ])
    expect(tableRows(section('metrics.md', '## Alert rules'))).toEqual(rows)
    expect(readPage('metrics.md')).toContain('config/prometheus/catalogd.rules.yml')
  })
})

/** As `PauseReason` of the outbox; the rule leaves out what the operator wanted. */
const pauseReasons = ['credentials', 'refuses-everything']

/** Where the annotation of a rule leads: to several places where its label says which. */
function placesOf(runbook: string): { page: string; anchors: string[] } {
  const [page = '', anchor = ''] = runbook.split('#')
  return { page, anchors: anchor === '{{ $labels.reason }}' ? pauseReasons : [anchor] }
}

/** As links of the table. */
function linksTo({ runbook }: Rule['annotations']): string {
  const { page, anchors } = placesOf(runbook)
  return anchors.map((anchor) => `[\`${anchor}\`](${page.replace(/^docs\//, '')}#${anchor})`).join(', ')
}
