/**
 * The marketing permissions of many people, exported again and again by three systems in turn. Some people never change
 * their mind, some do once, some with every export, some are named now and then only. A file repeats itself, in other
 * spellings of the same address and with the opposite state: its last row counts.
 */

/** Stands in every address, and in nothing else. */
export const mailDomain = 'post.customers.example'

/** Each has a drop folder, a form and words of its own. */
export const exporters = ['newsletter', 'crm', 'shop'] as const
export type Exporter = (typeof exporters)[number]

/** Three exporters of the catalog's configuration. */
export function feedLines(dropDir: string): string {
  return `    feeds:
      newsletter: { kind: consents, drop: "${dropDir}/newsletter", files: "*.csv", settle: 0s }
      crm:
        kind: consents
        drop: "${dropDir}/crm"
        files: "*.txt"
        settle: 0s
        fields: { email: Mail, consent: { column: Status, when: { A: true, R: false } } }
      shop: { kind: consents, drop: "${dropDir}/shop", files: "*.ndjson", settle: 0s }
`
}

export function exporterOf(version: number): Exporter {
  return exporters[(version - 1) % exporters.length] ?? 'newsletter'
}

export interface ConsentFile {
  exporter: Exporter
  name: string
  content: string
  /** Address in lower case → the state that counts. */
  states: ReadonlyMap<string, boolean>
}

interface Row {
  email: string
  consent: boolean
}

/** Versions count from 1. */
export function consentFile(version: number, people: number): ConsentFile {
  const exporter = exporterOf(version)
  const states = new Map<string, boolean>()
  const rows: Row[] = []
  // Rows that a later one of the file takes back, then the ones that count: of every other person in two runs.
  for (const rest of [1, 0]) {
    for (let person = rest; person < people; person += 2) {
      const consent = stateOf(person, version)
      if (consent === undefined) continue
      if (person % 4 === 1) rows.push({ email: spelling(person, version + 1), consent: !consent })
      if (person % 20 === 1) rows.push({ email: spelling(person, version + 2), consent })
      if (person % 20 === 1) rows.push({ email: spelling(person, version + 3), consent: !consent })
    }
    for (let person = rest; person < people; person += 2) {
      const consent = stateOf(person, version)
      if (consent === undefined) continue
      rows.push({ email: spelling(person, version), consent })
      states.set(addressOf(person), consent)
    }
  }
  const number = String(version).padStart(4, '0')
  return { exporter, name: `v${number}${endings[exporter]}`, content: formats[exporter](rows), states }
}

const endings: Readonly<Record<Exporter, string>> = { newsletter: '.csv', crm: '.txt', shop: '.ndjson' }

const formats: Readonly<Record<Exporter, (rows: readonly Row[]) => string>> = {
  newsletter: (rows) => linesOf('email,consent', rows, ({ email, consent }) => `${email},${consent}`),
  crm: (rows) =>
    linesOf('No;Mail;Status', rows, ({ email, consent }, row) => `${row};"${email}";${consent ? 'A' : 'R'}`),
  shop: (rows) => rows.map((row) => `${JSON.stringify({ ...row, source: 'checkout' })}\n`).join(''),
}

function linesOf(header: string, rows: readonly Row[], format: (row: Row, index: number) => string): string {
  return `${[header, ...rows.map(format)].join('\n')}\n`
}

/** What a version says of a person; undefined: nothing. */
function stateOf(person: number, version: number): boolean | undefined {
  const changesAt = 2 + (Math.floor(person / 8) % 6)
  switch (person % 8) {
    case 0:
      return true
    case 1:
      return false
    case 2:
      return version < changesAt
    case 3:
      return version >= changesAt
    case 4:
      return version % 2 === 1
    case 5:
      return version % 2 === 0
    case 6:
      return version === 1 || version === changesAt ? version > 1 : undefined
    default:
      return version % 3 === 0 ? undefined : version % 3 === 1
  }
}

const names = ['anna', 'O’Neil', "d'arc", 'jo+shop', 'max.muster', 'x_y-z', 'müller', '50%off'] as const

function addressOf(person: number): string {
  return `${names[person % names.length]}${person}@${mailDomain}`.toLowerCase()
}

/** The same address, written another way. */
function spelling(person: number, variant: number): string {
  const address = addressOf(person)
  const [local = '', host = ''] = address.split('@')
  switch ((person + variant) % 4) {
    case 0:
      return address
    case 1:
      return address.toUpperCase()
    case 2:
      return ` ${local[0]?.toUpperCase()}${local.slice(1)}@${host} `
    default:
      return `${local}@${host.toUpperCase()}`
  }
}
