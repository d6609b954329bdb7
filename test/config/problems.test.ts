import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/load.ts'
import { ConfigProblemsError, suggestWord } from '../../src/config/problems.ts'
import { encodingNames } from '../../src/lib/encoding.ts'
import type { ConfigError } from '../../src/lib/errors.ts'
import { tempDir } from '../support/temp-dir.ts'
import { problemsOf, withFeed } from './support.ts'

const feed = 'catalogs.main.feeds.products'
const shape = (fields: string) => withFeed(`fields:\n  product_id: sku\n${fields}`)

/** What is wrong, and all that is said about it. Places are line:column as an editor shows them. */
const cases: Record<string, { text: string; env?: Record<string, string>; expected: string[] }> = {
  'an empty file': {
    text: '',
    expected: [
      '1:1 found nothing, expected a mapping with state, redis, archive, history, console, alerts, traces, stack, intent, catalogs',
    ],
  },
  'a list': {
    text: '- a\n',
    expected: [expect.stringContaining('1:1 found a list, expected a mapping with')],
  },
  'no catalogs': {
    text: 'state: x\n',
    expected: ['1:1 catalogs: is missing, expected a mapping of catalogs by name'],
  },
  'an empty mapping': {
    text: 'catalogs: {}\n',
    expected: ['1:11 catalogs: found no catalog, expected at least one'],
  },
  'broken YAML': {
    text: 'catalogs:\n  main: [\n',
    expected: [expect.stringMatching(/^[23]:\d+ not valid YAML: /)],
  },
  'a tab': { text: 'catalogs:\n\tmain: 1\n', expected: [expect.stringContaining('2:1 found a tab')] },
  'a key twice': {
    text: 'state: a\ncatalogs: {}\nstate: b\n',
    expected: ['3:1 found the same key twice, expected it once'],
  },
  'a reserved key': {
    text: withFeed('fields: { product_id: sku, __proto__: x }'),
    expected: [`7:36 ${feed}.fields: found the reserved word __proto__ as a key, expected another word`],
  },
  'a key that is no word': {
    text: withFeed('').concat('? [a]\n: b\n'),
    expected: ['7:3 found a list or mapping as a key, expected another word'],
  },
  'a reference that is none': {
    text: withFeed(`done: "\${a b}"`),
    expected: [
      `7:15 ${feed}.done: found \${a b}, expected \${NAME} or \${NAME:-default}; write $\${ for a literal \${`,
    ],
  },
  'an unset variable that is needed at once': {
    text: `redis: \${REDIS}\n`.concat(withFeed(`settle: \${SETTLE}`)),
    expected: [
      `1:8 redis: the environment variable REDIS is not set, expected a value; set it, or write a default as \${REDIS:-…}`,
      `8:17 ${feed}.settle: the environment variable SETTLE is not set, expected a value; set it, or write a default as \${SETTLE:-…}`,
    ],
  },
  'a variable that every object has': {
    text: `redis: \${constructor}\n`.concat(withFeed(`settle: \${__proto__}`)),
    expected: [
      `1:8 redis: the environment variable constructor is not set, expected a value; set it, or write a default as \${constructor:-…}`,
      `8:17 ${feed}.settle: the environment variable __proto__ is not set, expected a value; set it, or write a default as \${__proto__:-…}`,
    ],
  },
  'a misspelt key': {
    text: withFeed('setle: 2s', 'delivery: { callbytes: 5 }'),
    expected: [
      `7:9 ${feed}.setle: found an unknown key; did you mean "settle"?`,
      '8:17 catalogs.main.delivery.callbytes: found an unknown key; did you mean "callBytes"?',
    ],
  },
  'a misspelt required key, reported once': {
    text: withFeed('').replace('drop:', 'drp: '),
    expected: [`6:9 ${feed}.drp: found an unknown key; did you mean "drop"?`],
  },
  'a key like no other': {
    text: 'xyzzy: 1\n'.concat(withFeed('')),
    expected: [
      '1:1 xyzzy: found an unknown key, expected one of state, redis, archive, history, console, alerts, traces, stack, intent, catalogs',
    ],
  },
  'a wrong name': {
    text: withFeed('').replace('main:', 'Main Shop:').replace('products:', '12:'),
    expected: [
      expect.stringMatching(
        /^2:3 catalogs\["Main Shop"\]: found the name "Main Shop", expected at most 64 lower/,
      ),
    ],
  },
  'a name of digits': {
    text: withFeed('').replace('products:', '12:'),
    expected: [
      expect.stringMatching(/^5:7 catalogs\.main\.feeds\.12: found the name "12", expected at most 64 lower/),
    ],
  },
  'a name that is taken': {
    text: withFeed('').replace('main:', 'redis:'),
    expected: ['2:3 catalogs.redis: found a name that catalogd uses itself, expected another name'],
  },
  'numbers out of range': {
    text: withFeed('', 'delivery: { callBytes: 2000001, concurrency: 0, callsPerSecond: 1.5, timeout: 5 }'),
    expected: [
      '7:28 catalogs.main.delivery.callBytes: found the number 2000001, expected bytes from 1000 to 2000000 (the endpoint takes at most 2 MB)',
      '7:50 catalogs.main.delivery.concurrency: found the number 0, expected a whole number from 1 to 64',
      '7:69 catalogs.main.delivery.callsPerSecond: found the number 1.5, expected a whole number from 1 to 10000',
      '7:83 catalogs.main.delivery.timeout: found the number 5, expected a duration such as 500ms, 2s, 15m or 1h, at least 100ms',
    ],
  },
  'words that are not among the known': {
    text: withFeed('mode: partial\nformat: { type: xls, encoding: ebcdic }\nrejects: { atMost: 7 }'),
    expected: [
      `7:15 ${feed}.mode: found "partial", expected one of full, delta`,
      `8:25 ${feed}.format.type: found "xls", expected one of csv, tsv, ndjson, json, xml, xlsx`,
      `8:40 ${feed}.format.encoding: found "ebcdic", expected one of ${encodingNames.join(', ')}`,
      `9:28 ${feed}.rejects.atMost: found the number 7, expected a share such as 10% or 0.1`,
    ],
  },
  'numbers where names belong': {
    text: shape('  name: 5\n  brand: { column: [a, 7] }\n  description: [a]'),
    expected: [
      `9:17 ${feed}.fields.name: found the number 5, expected a column name, a text with {column} placeholders, or a mapping such as { column: Price }`,
      `10:32 ${feed}.fields.brand.column[1]: found the number 7, expected the name of a column; put it in quotes`,
      `11:24 ${feed}.fields.description: found a list, expected a column name, a text with {column} placeholders, or a mapping such as { column: Price }`,
    ],
  },
  'a forgotten value': {
    text: withFeed('').replace('./drop', ''),
    expected: [`6:15 ${feed}.drop: found nothing, expected the folder to watch`],
  },
  'a pattern with a folder': {
    text: withFeed('files: in/*.csv'),
    expected: [
      `7:16 ${feed}.files: found "in/*.csv", expected a file name pattern such as *.csv or "{a_,b_}*.csv", or { full: …, delta: … }`,
    ],
  },
  'unknown fields': {
    text: withFeed(
      'fields:\n  product_id: sku\n  titel: t\n  imageurl: i\nowns: [pric]',
      'urgent: [availabilty]',
    ),
    expected: [
      expect.stringContaining(
        `9:11 ${feed}.fields.titel: is no product field, expected one of product_id, name,`,
      ),
      `10:11 ${feed}.fields.imageurl: is no product field; did you mean "image_url"?`,
      expect.stringContaining(`11:16 ${feed}.owns[0]: found "pric", which is no product field`),
      expect.stringContaining(`11:16 ${feed}.owns[0]: found "pric", which this feed does not map`),
      '12:14 catalogs.main.urgent[0]: found "availabilty", which is no product field; did you mean "availability"?',
    ],
  },
  'fields without an id': {
    text: withFeed('fields: { price: p }'),
    expected: [
      `7:9 ${feed}.fields.product_id: is missing, expected the column that holds the id of the product`,
    ],
  },
  'rules that mean nothing': {
    text: shape(`  name: { decimal: "," }
  url: { column: u, value: v }
  price: { column: p, decimal: ",", thousands: "," }
  brand: { value: b, trim: true }
  tag1: { column: t, result: "{x}" }
  description: { template: hello }
  availability: { column: q, otherwise: InStock }
  custom_fields: { entries: { a: { entries: { b: c } }, d: { colunm: e } } }`),
    expected: [
      `9:17 ${feed}.fields.name: is missing where the value comes from, expected exactly one of column, value, template, entries, matching, parts, each`,
      `10:16 ${feed}.fields.url: found column and value, expected exactly one of column, value, template, entries, matching, parts, each`,
      `12:36 ${feed}.fields.brand.trim: has no effect beside value, expected it to be left out`,
      `13:38 ${feed}.fields.tag1.result: found no pattern beside it, expected one with named groups`,
      `14:36 ${feed}.fields.description.template: found no {column} in it, expected at least one, or value for a constant`,
      `15:49 ${feed}.fields.availability.otherwise: found no "when" beside it, expected both, or value for a constant`,
      `16:70 ${feed}.fields.custom_fields.entries.d.colunm: found an unknown key; did you mean "column"?`,
    ],
  },
  'entries in entries': {
    text: shape('  custom_fields: { entries: { a: { entries: { b: c } } } }'),
    expected: [
      `9:53 ${feed}.fields.custom_fields.entries.a.entries: found entries inside entries, expected one level`,
    ],
  },
  'what the catalog stage refuses': {
    text: shape('  price: { column: p, pattern: "(" }'),
    expected: [expect.stringMatching(/^9:18 catalogs\.main\.feeds\.products\.fields\.price: .+/)],
  },
  'companions that exclude each other': {
    text: withFeed(
      'files: { full: "*.csv", delta: "*_delta.csv" }\nmode: full\nsettle: 1s\ndone: "*.ok"\nformat: { type: ndjson, quote: none }',
    ),
    expected: [
      `7:40 ${feed}.files.delta: found "*_delta.csv" beside "*.csv", expected patterns that no name can both match`,
      `8:9 ${feed}.mode: found beside files by mode, expected one of them`,
      `10:9 ${feed}.done: found beside settle, expected one of them`,
      `11:33 ${feed}.format.quote: has no effect with type ndjson, expected it to be left out`,
    ],
  },
  'files by no mode': {
    text: withFeed('files: {}'),
    expected: [`7:16 ${feed}.files: found neither full nor delta, expected a pattern for at least one`],
  },
  'a delay longer than its limit': {
    text: withFeed('', 'deferred: { after: 2h }'),
    expected: ['7:24 catalogs.main.deferred.after: found 2h, expected at most deferred.atMost, which is 1h'],
  },
  owners: {
    text: withFeed('owns: [price, price]\nfields: { product_id: a, price: b }').concat(
      '      other: { drop: ./other, owns: [price, brand], fields: { product_id: a, price: b } }\n',
    ),
    expected: [
      `7:23 ${feed}.owns[1]: found "price", which stands here twice, expected one owner`,
      '9:38 catalogs.main.feeds.other.owns[0]: found "price", which feed "products" owns already, expected one owner',
      '9:45 catalogs.main.feeds.other.owns[1]: found "brand", which this feed does not map',
    ].map((line) => expect.stringContaining(line)),
  },
  'one drop folder for two feeds': {
    text: withFeed('files: "*.csv"').concat(
      '      gzip: { drop: ./drop/, files: "a*.csv.gz" }\n      other: { drop: drop, files: "*.ndjson" }\n',
      '  second:\n    api: { url: https://b.example, productsToken: t }\n    feeds: { f: { drop: ./x/../drop, files: "*.ndjson.zst" } }\n',
    ),
    expected: [
      `8:21 catalogs.main.feeds.gzip.drop: found the folder of ${feed}, where one file could belong to both feeds, expected another folder, or "files" patterns that no name can both match`,
      '12:25 catalogs.second.feeds.f.drop: found the folder of catalogs.main.feeds.other, where one file could belong to both feeds, expected another folder, or "files" patterns that no name can both match',
    ],
  },
  'a drop folder inside the state folder': {
    text: 'state: ./var\n'.concat(withFeed('').replace('./drop', './var/drop')),
    expected: [`7:15 ${feed}.drop: found a folder inside the state folder, expected one outside of it`],
  },
  addresses: {
    text: `redis: http://cache
stack: { url: http://stack.example }
${withFeed('').replace('https://api.example', 'http://api.example')}`,
    expected: [
      '1:8 redis: found "http://cache", expected redis://host:port, rediss://host:port, or nothing for an own redis-server',
      '2:15 stack.url: found "http://stack.example", expected https: a key that is sent over plain HTTP is revoked at once',
      '5:17 catalogs.main.api.url: found "http://api.example", expected https: a key that is sent over plain HTTP is revoked at once',
    ],
  },
  'an address from the environment': {
    text: withFeed('').replace('https://api.example', `"\${API_URL}"`),
    env: { API_URL: 'ftp://me:secret@host/?a' },
    expected: [
      '3:17 catalogs.main.api.url: found "ftp://********@host/…", expected an address that begins with https://',
    ],
  },
  'no token': {
    text: withFeed('').replace(', productsToken: abc', ''),
    expected: [
      '3:5 catalogs.main.api.productsToken: is missing, expected productsToken or productsTokenFile',
    ],
  },
  'two tokens': {
    text: withFeed('').replace('abc', 'abc, productsTokenFile: t'),
    expected: ['3:58 catalogs.main.api.productsTokenFile: found beside productsToken, expected one of them'],
  },
  'keys of products in a feed of consents': {
    text: withFeed('kind: consents\nmode: full\nowns: [price]\nmissing: { action: ignore }').replace(
      'productsToken',
      'emailToken',
    ),
    expected: [
      `8:15 ${feed}.mode: found full in a feed of kind consents, expected delta or nothing: a consent that a file does not name stays as it is`,
      `9:9 ${feed}.owns: has no meaning in a feed of kind consents, expected it to be left out`,
      `10:9 ${feed}.missing: has no meaning in a feed of kind consents, expected it to be left out`,
    ],
  },
  'full files of consents': {
    text: withFeed('kind: consents\nfiles: { full: a, delta: b }').replace('productsToken', 'emailToken'),
    expected: [
      expect.stringMatching(/^8:18 .+\.files\.full: found full files in a feed of kind consents, .+/),
    ],
  },
  'fields of consents': {
    text: withFeed(
      'kind: consents\nfields: { emai: M, price: P, consent: { column: C, decimal: ",", when: { x: perhaps } } }',
    ).replace('productsToken', 'emailToken'),
    expected: [
      `8:19 ${feed}.fields.emai: is no field of a consent; did you mean "email"?`,
      `8:28 ${feed}.fields.price: is no field of a consent, expected one of email, consent`,
      `8:69 ${feed}.fields.consent.decimal: has no effect in a feed of consents, expected it to be left out`,
    ],
  },
  'values of consents': {
    text: withFeed(
      'kind: consents\nfields: { email: { value: a@b.example }, consent: { column: C, when: { x: perhaps } } }',
    ).replace('productsToken', 'emailToken'),
    expected: [
      `8:35 ${feed}.fields.email.value: would be one customer, expected the column of the address`,
      `8:59 ${feed}.fields.consent: when "x": found the text "perhaps", expected true or false, yes or no, 1 or 0; correct it, or translate the word with when`,
    ],
  },
  'a mapping of consents without one of the two': {
    text: withFeed('kind: consents\nfields: { email: M }').replace('productsToken', 'emailToken'),
    expected: [`8:9 ${feed}.fields.consent: is missing, expected the column that holds the consent`],
  },
  'consents without a token': {
    text: withFeed('kind: consents'),
    expected: [
      '3:5 catalogs.main.api.emailToken: is missing, and a feed of kind consents needs it, expected emailToken or emailTokenFile',
    ],
  },
  'a feed that is named as the built-in one': {
    text: withFeed('').replace('products:', 'consent-command:'),
    expected: [
      '5:7 catalogs.main.feeds.consent-command: found the name under which the command "consent" hands files in, expected another name',
    ],
  },
  'an unknown kind, and a path that is none': {
    text: withFeed('kind: consent', 'consents: { path: v1/, callsPerSecond: 0 }'),
    expected: [
      `7:15 ${feed}.kind: found "consent", expected one of products, consents`,
      '8:23 catalogs.main.consents.path: found "v1/", expected a path such as /api/v1/customers/consent, without a slash at the end',
      '8:44 catalogs.main.consents.callsPerSecond: found the number 0, expected a whole number from 1 to 10000',
    ],
  },
  'tokens beside files of tokens': {
    text: `stack: { accessToken: a, accessTokenFile: b }
intent: { url: http://intent.example, token: a, tokenFile: b, country: "\${COUNTRY}" }
${withFeed('').replace('abc', 'abc, emailToken: a, emailTokenFile: b')}`,
    expected: [
      '1:26 stack.accessTokenFile: found beside accessToken, expected one of them',
      '2:16 intent.url: found "http://intent.example", expected https: a key that is sent over plain HTTP is revoked at once',
      '2:49 intent.tokenFile: found beside token, expected one of them',
      expect.stringMatching(/^2:72 intent\.country: the environment variable COUNTRY is not set/),
      '5:73 catalogs.main.api.emailTokenFile: found beside emailToken, expected one of them',
    ],
  },
  'a token that YAML reads as a number': {
    text: withFeed('').replace('abc', '12345'),
    expected: [
      '3:53 catalogs.main.api.productsToken: found the number (hidden), expected an API_PRODUCTS token; put it in quotes',
    ],
  },
}

describe('problems', () => {
  for (const [name, { text, env, expected }] of Object.entries(cases)) {
    it(name, async () => {
      expect(await problemsOf(text, env ? { env } : {})).toEqual(expected)
    })
  }

  it('are all reported at once, in the order of the file', async () => {
    const text = `sate: x
catalogs:
  main:
    api: { url: http://shop.example }
    deferred: { after: 3h, atMost: 1h }
    feeds:
      one: { drop: d, mode: fll, fields: { product_id: a, prise: b } }
      two: { drop: d, owns: [color] }
`
    const places = (await problemsOf(text)).map((line) => line.split(': ')[0])
    expect(places).toEqual([
      '1:1 sate',
      '4:5 catalogs.main.api.productsToken',
      '4:17 catalogs.main.api.url',
      '5:24 catalogs.main.deferred.after',
      '7:29 catalogs.main.feeds.one.mode',
      '7:59 catalogs.main.feeds.one.fields.prise',
      '8:20 catalogs.main.feeds.two.drop',
      '8:30 catalogs.main.feeds.two.owns[0]',
    ])
  })

  it('accept loopback addresses over http', async () => {
    for (const host of ['localhost:8490', '127.0.0.1', '127.8.0.1:1', '[::1]:80', 'api.localhost']) {
      expect(await problemsOf(withFeed('').replace('https://api.example', `"http://${host}"`))).toEqual([])
    }
    for (const host of ['127.0.0.1.example', 'localhost.example', '128.0.0.1', '[::2]']) {
      expect(await problemsOf(withFeed('').replace('https://api.example', `"http://${host}"`))).toHaveLength(
        1,
      )
    }
  })

  it('name the file as it was given and say how to go on', async () => {
    await using folder = await tempDir('config')
    const file = folder.join('my.yaml')
    await writeFile(file, 'catalogs: {}\n')
    const failure = await readConfig({ file, env: {} }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ConfigProblemsError)
    expect(failure).toMatchObject({
      exitCode: 2,
      code: 'config-invalid',
      message: `${file}:1:11 catalogs: found no catalog, expected at least one`,
      hint: 'Correct it and run "catalogd config check"',
    })
  })

  it('of a file that cannot be read', async () => {
    await using folder = await tempDir('config')
    const failure = (file: string) =>
      readConfig({ file, env: {} }).catch((error: unknown) => error as ConfigError)
    expect(await failure(folder.join('none.yaml'))).toMatchObject({ code: 'config-missing', exitCode: 2 })
    expect(await failure(folder.path)).toMatchObject({ code: 'config-unreadable' })
    await writeFile(folder.join('latin.yaml'), Buffer.from('state: caf\xe9\n', 'latin1'))
    expect(await failure(folder.join('latin.yaml'))).toMatchObject({
      message: expect.stringContaining('not UTF-8'),
    })
  })

  it('of aliases that multiply', async () => {
    const levels = Array.from(
      { length: 30 },
      (_, index) => `  a${index + 1}: &a${index + 1} [*a${index}, *a${index}]`,
    )
    const problems = await problemsOf(`state: x\nbomb:\n  a0: &a0 [x]\n${levels.join('\n')}\n`)
    expect(problems.join('\n')).toContain('too much nesting or too many aliases')
  })
})

describe('suggestWord', () => {
  it('finds near words and leaves far ones', () => {
    const words = ['price', 'list_price', 'product_id', 'name']
    expect(suggestWord('prise', words)).toBe('price')
    expect(suggestWord('listPrice', words)).toBe('list_price')
    expect(suggestWord('PRODUCT-ID', words)).toBe('product_id')
    expect(suggestWord('weight', words)).toBeUndefined()
    expect(suggestWord('x', [])).toBeUndefined()
  })
})
