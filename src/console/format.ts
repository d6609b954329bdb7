import { type Content, type Html, html } from './html.ts'

const numbers = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })

export function count(value: number): string {
  return numbers.format(value)
}

/** Below ten with one decimal. */
export function rate(value: number): string {
  return value > 0 && value < 10 ? value.toFixed(1) : count(value)
}

export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** A span of time in the unit that a person would choose. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 1) return ms > 0 ? 'under 1 s' : '0 s'
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`
}

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const

export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3))
  const scaled = value / 1000 ** power
  return `${scaled >= 100 || power === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${units[power]}`
}

/** How long ago, with the moment itself for who asks; both directions of time. */
export function moment(at: string | number | null | undefined, nowMs: number): Content {
  if (at === null || at === undefined) return '–'
  const atMs = typeof at === 'number' ? at : Date.parse(at)
  if (Number.isNaN(atMs)) return at
  const iso = new Date(atMs).toISOString()
  const away = nowMs - atMs
  const text = away >= 0 ? `${span(away)} ago` : `in ${span(-away)}`
  return html`<time datetime="${iso}" title="${iso}">${text}</time>`
}

interface Table {
  /** Says what the table is, for who cannot see the heading above it. */
  label: string
  head: readonly string[]
  rows: readonly (readonly Content[])[]
  /** What stands in place of an empty table. */
  empty: string
}

/** On a narrow screen each row becomes a card whose cells name their column. */
export function table({ label, head, rows, empty }: Table): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`
  const cells = (row: readonly Content[]) =>
    row.map((cell, index) => html`<td role="cell" data-label="${head[index] ?? ''}">${cell}</td>`)
  return html`<table role="table" aria-label="${label}">
<thead role="rowgroup"><tr role="row">${head.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${cells(row)}</tr>`)}</tbody>
</table>`
}
