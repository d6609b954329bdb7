import { posix } from 'node:path'
import type { ExpansionLimits } from './expansion-meter.ts'
import { type FileSource, fileRefusal } from './read-file.ts'
import { NumberFormats } from './xlsx-number-formats.ts'
import { damagedWorkbook, type PartHandler, parsePart } from './xlsx-part.ts'
import { SharedStrings } from './xlsx-shared-strings.ts'
import { openZipArchive, type ZipArchive } from './zip-archive.ts'

/** Sheets of real products compress 5 to 30 fold; the most repetitive ones that people make stay below 100. */
const limits: ExpansionLimits = { ratioMax: 200, fromBytes: 32 * 2 ** 20 }

/** What is needed of a workbook to read one of its sheets. */
export interface Workbook extends AsyncDisposable {
  /** Of the sheet that was asked for. */
  rows: AsyncIterable<Buffer>
  strings: SharedStrings
  formats: NumberFormats
}

interface Sheet {
  name: string
  isHidden: boolean
  relation: string
}

/** `sheet` undefined: the first that is not hidden. Throws FileRefusedError. */
export async function openWorkbook(source: FileSource, sheet: string | undefined): Promise<Workbook> {
  const archive = await openZipArchive(source, limits)
  try {
    const parts = new Parts(archive, source)
    const root = await parts.relations('')
    const path = root.find(({ type }) => type.endsWith('/officeDocument'))?.target ?? 'xl/workbook.xml'
    const relations = await parts.relations(path)
    const { sheets, is1904 } = await parts.sheets(path)
    const isWorksheet = (id: string) =>
      relations.some((one) => one.id === id && one.type.endsWith('/worksheet'))
    const picked = pickSheet(
      sheets.filter(({ relation }) => isWorksheet(relation)),
      sheet,
      source,
    )
    const targetOf = (accepts: (relation: Relation) => boolean) => relations.find(accepts)?.target
    const strings = new SharedStrings(source)
    const texts = targetOf(({ type }) => type.endsWith('/sharedStrings'))
    const member = texts === undefined ? undefined : parts.find(texts)
    if (member) strings.check(member)
    await parts.parse(texts, strings)
    const formats = new NumberFormats({ is1904 })
    await parts.parse(
      targetOf(({ type }) => type.endsWith('/styles')),
      formats,
    )
    const rows = parts.read(targetOf(({ id }) => id === picked.relation) ?? '')
    return {
      rows,
      strings,
      formats,
      [Symbol.asyncDispose]: () => archive[Symbol.asyncDispose](),
    }
  } catch (error) {
    await archive[Symbol.asyncDispose]()
    throw error
  }
}

interface Relation {
  id: string
  /** An address that ends with `/worksheet`, `/styles` … in both editions of the standard. */
  type: string
  target: string
}

/** The parts of a workbook by their paths, which are compared without regard to case. */
class Parts {
  readonly #archive: ZipArchive
  readonly #source: FileSource

  constructor(archive: ZipArchive, source: FileSource) {
    this.#archive = archive
    this.#source = source
  }

  find(path: string) {
    const wanted = path.toLowerCase()
    return this.#archive.members.find(({ name }) => name.toLowerCase() === wanted)
  }

  read(path: string): AsyncIterable<Buffer> {
    const member = this.find(path)
    if (member === undefined) throw damagedWorkbook(this.#source, `its part ${path} is not there`)
    return this.#archive.read(member)
  }

  /** Does nothing when there is no such part. */
  async parse(path: string | undefined, handler: PartHandler): Promise<void> {
    if (path === undefined || this.find(path) === undefined) return
    for await (const _ of parsePart(this.read(path), handler, this.#source))
      this.#source.signal?.throwIfAborted()
  }

  /** What the part refers to; of the whole package with an empty path. */
  async relations(path: string): Promise<Relation[]> {
    const found: Relation[] = []
    const folder = posix.dirname(path)
    await this.parse(posix.join(folder, '_rels', `${posix.basename(path)}.rels`), {
      open: (name, { Id: id = '', Type: type = '', Target: target = '' }) => {
        if (name !== 'Relationship' || found.length >= 10_000) return
        const full = target.startsWith('/') ? target.slice(1) : posix.join(folder, target)
        found.push({ id, type, target: full })
      },
    })
    return found
  }

  async sheets(path: string): Promise<{ sheets: Sheet[]; is1904: boolean }> {
    const sheets: Sheet[] = []
    let is1904 = false
    await this.parse(path, {
      open: (name, attributes) => {
        if (name === 'workbookPr') is1904 = /^(1|true|on)$/.test(attributes.date1904 ?? '')
        if (name !== 'sheet' || sheets.length >= 10_000) return
        const relation = Object.entries(attributes).find(([key]) => /(^|:)id$/.test(key))?.[1] ?? ''
        const isHidden = (attributes.state ?? 'visible') !== 'visible'
        sheets.push({ name: attributes.name ?? '', isHidden, relation })
      },
    })
    return { sheets, is1904 }
  }
}

function pickSheet(sheets: readonly Sheet[], wanted: string | undefined, { name }: FileSource): Sheet {
  const plain = wanted?.trim().toLowerCase()
  const picked =
    wanted === undefined
      ? (sheets.find(({ isHidden }) => !isHidden) ?? sheets[0])
      : (sheets.find((sheet) => sheet.name === wanted) ??
        sheets.find((sheet) => sheet.name.trim().toLowerCase() === plain))
  if (picked) return picked
  const names = sheets.slice(0, 20).map((sheet) => JSON.stringify(sheet.name))
  throw fileRefusal({
    name,
    code: 'no-sheet',
    found: `the spreadsheet has no sheet ${wanted === undefined ? 'of cells' : JSON.stringify(wanted)}${names.length > 0 ? `, only ${names.join(', ')}` : ''}`,
    hint: wanted === undefined ? 'Check the export' : 'Correct format.sheet',
  })
}
