import type { CatalogConfig } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import type { Session } from './access.ts'
import type { AuditLog } from './audit-log.ts'
import type { Configured } from './configured.ts'
import type { Figures, Sample } from './figures.ts'
import { type Html, html } from './html.ts'
import type { ReadThread } from './read-thread.ts'
import type { ConsoleStatus } from './reads.ts'

/** What pages show, from whoever has it. */
export interface PageSources {
  thread: ReadThread
  /** Read again after a moment. */
  status: () => Promise<ConsoleStatus>
  figures: Figures
  audit: AuditLog
  clock: Clock
  /** The configuration that runs, secrets masked, as YAML, and the one in the file now. */
  settings: () => Promise<Settings>
}

export interface Settings {
  running: string
  /** Undefined: what is in the file cannot be used; `problem` says why. */
  inFile: string | undefined
  problem?: string
}

/** One request for a page. */
export interface View extends PageSources, Configured {
  session: Session
  catalog: CatalogConfig
  /** From the path. */
  id: string
  query: Readonly<Record<string, string>>
  nowMs: number
  /** Path and query of this page. */
  here: string
}

export interface Page {
  path: string
  /** Of the navigation; left out: another page leads there. */
  nav?: string
  title: (view: View) => string
  /** Shown again, while somebody looks, at most so often. */
  everyMs: number
  render: (view: View) => Promise<Html>
  /** Points of its charts. */
  samples?: (view: View) => readonly Sample[]
}

/** The address of a page of the same catalog. */
export function linkTo(
  { catalog, catalogs }: View,
  path: string,
  query: Record<string, string> = {},
): string {
  const all = new URLSearchParams({ ...(catalogs.length > 1 ? { catalog: catalog.name } : {}), ...query })
  return all.size === 0 ? path : `${path}?${all}`
}

interface Button {
  action: string
  label: string
  /** Follows the label for those who cannot see beside what it stands. */
  about?: string
  /** What it is about. */
  fields: Readonly<Record<string, string>>
  kind?: 'danger'
  /** Asked before it is done. */
  confirm?: string
}

/** A form of one button; nothing for who may only look. */
export function button(view: View, { action, label, about, fields, kind, confirm }: Button): Html {
  if (view.session.role !== 'operator') return html``
  const hidden = { csrf: view.session.csrf, catalog: view.catalog.name, back: view.here, ...fields }
  const form = html`<form method="post" action="/actions/${action}">
${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button${kind === 'danger' && html` class="danger"`}${about && html` aria-label="${label} ${about}"`}>${label}</button></form>`
  if (confirm === undefined) return form
  return html`<details class="confirm"><summary>${label} …</summary><div><p>${confirm}</p>${form}</div></details>`
}
