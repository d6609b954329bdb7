import { DatabaseSync } from 'node:sqlite'

/** Everything that stands in a mirror, but which file it is, since when, and who writes it. Blobs as hexadecimal texts. */
export function dump(file: string): Record<string, unknown[]> {
  using database = new DatabaseSync(file)
  const names = database
    .prepare("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    .all()
  return Object.fromEntries(
    names.map(({ name }) => [
      String(name),
      database
        .prepare(`SELECT * FROM ${name}`)
        .all()
        .filter((row) => !['file', 'made', 'writer'].includes(String(row.name)))
        .map((row) =>
          Object.values(row).map((value) => (value instanceof Uint8Array ? toHex(value) : value)),
        ),
    ]),
  )
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
