import iconv from 'iconv-lite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Encoding } from '../../src/config/format-model.ts'
import { EncodingEvidence, EncodingPhrases } from '../../src/records/encoding-evidence.ts'
import { encodeText } from '../../src/records/rejects-text.ts'
import { FeedFolder, judge } from './feed-file.ts'
import { productTexts } from './product-texts.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

function fileOf(names: readonly string[]): string {
  return `id,name\n${names.map((name, at) => `${at},${name}\n`).join('')}`
}

function guessOf(bytes: Buffer) {
  const [evidence, phrases] = [new EncodingEvidence(), new EncodingPhrases()]
  for (const each of [evidence, phrases]) {
    each.add(bytes)
    each.end()
  }
  return evidence.guess(phrases)
}

/** Whether the text is read right; else whether the warning names an encoding in which it is. */
function outcomeOf(text: string, encoding: Encoding): 'right' | 'warned' | 'silent' {
  const bytes = encodeText(text, encoding)
  const guess = guessOf(bytes)
  const isRight = (name: string) => iconv.decode(bytes, name) === text
  if (isRight(guess.encoding)) return 'right'
  const named = [...(guess.warning ?? '').matchAll(/\(([\w-]+)\)/g)].map(([, name]) => name as string)
  return named.some(isRight) ? 'warned' : 'silent'
}

/** One or two words, and pairs of them: what stands at the beginning of each product text. */
function shortNames(texts: readonly string[]): string[][] {
  const names = texts.flatMap((text) => {
    const words = text.replace(/["“”„«»]/g, '').split(/[\s,，、]+/)
    return words.slice(0, 2).map((_, at) =>
      words
        .slice(0, at + 1)
        .map((word) => (/[一-鿿ぁ-ヿ]/.test(word) ? word.slice(0, 4) : word))
        .join(' '),
    )
  })
  const short = [...new Set(names)].filter((name) => /[^\p{ASCII}]/u.test(name))
  return [...short.map((name) => [name]), ...short.slice(1).map((name, at) => [short[at] as string, name])]
}

function furtherWords(texts: readonly string[]): string[][] {
  const words = texts.flatMap((text) =>
    text
      .replace(/["“”„«»]/g, '')
      .split(/[\s,，、]+/)
      .slice(2),
  )
  return [...new Set(words)].filter((word) => /[^\p{ASCII}]/u.test(word)).map((word) => [word])
}

const further: Readonly<Record<string, readonly Encoding[]>> = {
  ...{ German: ['macintosh', 'ibm850'], French: ['macintosh'], Spanish: ['macintosh', 'ibm850'] },
  ...{ Swedish: ['macintosh'], Polish: ['ibm852'], Russian: ['ibm866'] },
}

describe('the encoding of one or two names', () => {
  it.each<[Encoding, string[]]>([
    ['windows-1251', ['Лампа']],
    ['koi8-r', ['Лампа', 'Стол']],
    ['windows-1250', ['Łóżko', 'Świecznik']],
    ['big5', ['桌子', '沙發']],
    ['euc-kr', ['램프', '의자']],
    ['macintosh', ['Café', 'Größe']],
    ['gb18030', ['台灯', '椅子']],
    ['gb18030', ['沙发', '床单']],
    ['shift_jis', ['ランプ', '椅子']],
  ])('%s: %j is read right, or a warning names it', (encoding, names) => {
    expect(outcomeOf(fileOf(names), encoding)).not.toBe('silent')
  })

  // The rules were written with an eye on the first words of these texts: the others say more about them.
  it.each([
    { share: 0.99, cases: 680, namesOf: shortNames },
    { share: 0.92, cases: 590, namesOf: furtherWords },
  ])('is read right, or a warning names it: $share of $namesOf.name', ({ share, cases, namesOf }) => {
    const tally = { right: 0, warned: 0, silent: 0 }
    for (const [language, { encodings, texts }] of Object.entries(productTexts)) {
      for (const encoding of [...encodings, ...(further[language] ?? [])]) {
        for (const names of namesOf(texts)) {
          const text = fileOf(names)
          if (iconv.decode(encodeText(text, encoding), encoding) === text)
            tally[outcomeOf(text, encoding)] += 1
        }
      }
    }
    const { right, warned, silent } = tally
    expect(right + warned + silent).toBeGreaterThan(cases)
    expect((right + warned) / (right + warned + silent)).toBeGreaterThan(share)
  })

  it('gives no warning for the languages of Western Europe', () => {
    const languages = ['German', 'French', 'Spanish', 'Swedish', 'Portuguese', 'Danish'] as const
    const names = languages.flatMap((language) => shortNames(productTexts[language]?.texts ?? []))
    const ordinary = [
      ...[
        'Pâte à tartiner',
        'Œuvre',
        'bœuf',
        'cœur',
        'Nœud',
        'œnologie',
        'Ça',
        'aiguë',
        'Noël',
        'où',
        'goût',
      ],
      ...[
        'forêt',
        'crêpes',
        'jeûne',
        'sûr',
        'Málaga',
        'pingüino',
        'Nº 5',
        '¿Qué?',
        '¡Hola!',
        'España',
        'AÑO',
      ],
      ...[
        'Größe 43½',
        '30 €',
        '10–20 cm',
        'Può',
        'perché',
        'città',
        'lunedì',
        'più',
        'caffè',
        'È',
        'smørebrød',
      ],
      ...[
        'øl',
        'Ærø',
        'miljø',
        'Ås',
        'Öland',
        'Weiß',
        'Straße',
        'WEIß',
        'm³ Wasser',
        '10 cm²',
        'maçã',
        'pão',
      ],
      ...['coleções', 'você', 'três', 'lã', '2ª mão', '1º lugar', 'België', 'coördinatie', 'één', '“Lumo”'],
      ...[
        'Lamp — red',
        'Ikea®',
        '½ kg',
        'l’été',
        'Møbler',
        'GRÖSSE',
        'ÉTÉ',
        'naïf',
        'Citroën',
        'pêche',
        'Þór',
      ],
    ].map((name) => [name])
    const furtherNames = languages.flatMap((language) => furtherWords(productTexts[language]?.texts ?? []))
    for (const list of [...names, ...furtherNames, ...ordinary]) {
      const guess = guessOf(encodeText(fileOf(list), 'windows-1252'))
      expect([list, guess]).toEqual([list, { encoding: 'windows-1252', isLatin: true }])
    }
  })

  it('is not UTF-8 for a character or two that are valid by accident', async () => {
    // 0xC2 0xB7 0xB5 0xC6: 路灯, whose first two bytes are U+00B7 in UTF-8.
    const bytes = encodeText(fileOf(['路灯', '路桌', '台灯']), 'gb18030')
    const { dialect } = await judge(await folder.write('a.csv', bytes))
    expect(dialect.encoding).toBe('gb18030')
  })
})
