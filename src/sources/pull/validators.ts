/** By which a server knows a version of a file again. */
export interface Validators {
  etag?: string | undefined
  lastModified?: string | undefined
}

export function validatorsOf(headers: Readonly<Record<string, string>>): Validators {
  return { etag: headers.etag, lastModified: headers['last-modified'] }
}

/** Headers that ask for the file only if it is another version. */
export function unlessUnchanged({ etag, lastModified }: Validators): Record<string, string> {
  return {
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
  }
}

/**
 * What says that two parts are of one version, byte for byte; undefined: nothing does. A time of change is good enough
 * only when the answer was made later than in the same second (RFC 9110, 8.8.2.2).
 */
export function strongValidator(headers: Readonly<Record<string, string>>): string | undefined {
  const { etag, date, 'last-modified': lastModified } = headers
  if (etag !== undefined) return etag.startsWith('W/') ? undefined : etag
  if (lastModified === undefined || date === undefined) return undefined
  return Date.parse(date) - Date.parse(lastModified) >= 1000 ? lastModified : undefined
}

/** `bytes 100-199/200`; undefined when it is none. `total` undefined: `*`. */
export function parseContentRange(
  text: string | undefined,
): { from: number; total: number | undefined } | undefined {
  const [, from, , total] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(text?.trim() ?? '') ?? []
  if (from === undefined) return undefined
  return { from: Number(from), total: total === '*' ? undefined : Number(total) }
}
