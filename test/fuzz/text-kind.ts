import type { Encoding } from '../../src/config/format-model.ts'
import { FileRefusedError } from '../../src/lib/errors.ts'
import { decodeCut, generateCuts } from './chunks.ts'
import { decodeWhole, encode, encodings } from './encoded.ts'
import type { Kind } from './kind.ts'
import type { Random } from './random.ts'

interface TextSettings {
  encoding: Encoding
  cuts: readonly number[]
}

/** Texts and damaged ones in every encoding, cut anywhere, against decoders of whole texts. Parts are hexadecimal. */
export const textKind: Kind<TextSettings> = {
  name: 'encodings',
  weight: 8,
  generate: (random) => {
    const encoding = random.pick(encodings)
    const parts = random.list(random.between(1, 12), () => generatePart(random, encoding).toString('hex'))
    if (random.chance(0.3)) parts.unshift(encode('', { encoding, mark: true }).toString('hex'))
    return { parts, settings: { encoding, cuts: generateCuts(random) } }
  },
  run: async ({ parts, settings }) => {
    const { encoding, cuts } = settings
    const bytes = Buffer.from(parts.join(''), 'hex')
    const unit = encoding.startsWith('utf-32') ? 4 : encoding.startsWith('utf-16') ? 2 : 1
    try {
      const text = await decodeCut(bytes, { encoding, cuts })
      // What means nothing must stay wrong: good text would be applied.
      if (!encoding.startsWith('utf-') && !hasNoReplacement(text))
        return { difference: 'U+FFFD as if it were text' }
      const found = text.toString('utf8')
      if (bytes.length % unit !== 0) return { difference: `half a unit of ${encoding} was read` }
      const expected = decodeWhole(bytes, encoding)
      return found === expected
        ? 'read'
        : { difference: `found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}` }
    } catch (error) {
      if (!(error instanceof FileRefusedError)) throw error
      return bytes.length % unit === 0 ? { difference: `refused: ${error.message}` } : 'refused'
    }
  },
}

const replacementCharacter = Buffer.from('\ufffd')

function hasNoReplacement(text: Buffer): boolean {
  return !text.includes(replacementCharacter)
}

const texts = ['a', ';', '\n', 'Größe', '€ 12', 'žluť', 'цена', 'τιμή', '価格', '价格', '가격', 'ราคา', '💶']

function generatePart(random: Random, encoding: Encoding): Buffer {
  if (random.chance(0.7)) return encode(random.pick(texts), { encoding, mark: false })
  return Buffer.from(random.list(random.between(1, 4), () => random.below(256)))
}
