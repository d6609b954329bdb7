import { Busboy } from '@fastify/busboy'

export type MultipartPairs =
  | { kind: 'pairs'; pairs: [string, string][] }
  | { kind: 'unreadable'; why: string }

const pairsMax = 5_000
const nameBytesMax = 1_000

/** The fields of a multipart form, in their order; files in it are passed over. The bytes are bounded by whoever read them. */
export function readMultipart(bytes: Buffer, contentType: string): Promise<MultipartPairs> {
  return new Promise((resolve) => {
    const pairs: [string, string][] = []
    const refuse = (why: string) => resolve({ kind: 'unreadable', why })
    let form: InstanceType<typeof Busboy>
    try {
      form = new Busboy({
        headers: { 'content-type': contentType },
        limits: { fieldSize: bytes.length + 1, fieldNameSize: nameBytesMax, parts: pairsMax },
      })
    } catch {
      refuse('the content type of the multipart form has no usable boundary')
      return
    }
    form.on('field', (name, value, nameTruncated) => {
      if (nameTruncated) refuse(`a field name is longer than ${nameBytesMax} bytes`)
      else if (name !== undefined) pairs.push([name, value])
    })
    form.on('file', (_name, stream) => {
      // Unread files keep the form from ending, and one that breaks off emits an error of its own.
      stream.on('error', () => refuse('the multipart form breaks off within a file'))
      stream.resume()
    })
    form.on('partsLimit', () => refuse(`the multipart form has more than ${pairsMax} parts`))
    form.on('error', () => refuse('the multipart form is not well-formed or breaks off'))
    form.on('finish', () => resolve({ kind: 'pairs', pairs }))
    form.end(bytes)
  })
}
