import { cleanName } from '../entry-name.ts'

interface Naming {
  /** `Content-Disposition` of the answer. */
  disposition: string | undefined
  /** Where the file was asked for, and where it came from. */
  asked: URL
  from: URL
  feed: string
}

/** What a fetched file is called: as the server says, else as in its address, else as its feed. Safe as a name. */
export function nameOfAnswer({ disposition, asked, from, feed }: Naming): string {
  const named = disposition === undefined ? undefined : nameOfDisposition(disposition)
  const inPath = [asked, from].map(lastSegment)
  const withSuffix = inPath.find((segment) => /[^.]\.[A-Za-z0-9]{1,8}$/.test(segment))
  return cleanName(lastPart(named) || withSuffix || inPath.find((segment) => segment !== '') || feed)
}

/** RFC 6266: the extended form counts before the plain one. */
function nameOfDisposition(disposition: string): string | undefined {
  const extended = /;\s*filename\*\s*=\s*(utf-8|iso-8859-1)'[^']*'([^;\s]+)/i.exec(disposition)
  if (extended) {
    const [, charset = '', text = ''] = extended
    const decoded = charset.toLowerCase() === 'utf-8' ? decode(text) : undefined
    return (
      decoded ??
      text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    )
  }
  const [, quoted, plain] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? []
  return quoted?.replace(/\\(.)/g, '$1') ?? plain
}

function lastSegment({ pathname }: URL): string {
  const segment = pathname.split('/').at(-1) ?? ''
  return decode(segment) ?? segment
}

/** Some servers send whole paths. */
function lastPart(name: string | undefined): string | undefined {
  return name?.split(/[/\\]/).at(-1)
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
