import { expect, test } from 'vitest'
import { rankFields } from '../../src/catalog/ranks.ts'
import type { Config } from '../../src/config/model.ts'
import { configFromPlain, plainConfig } from '../../src/config/plain-config.ts'
import { noteShown, readShown } from '../../src/operations/shown-config.ts'
import { endpointOf } from '../../src/outbox/endpoint.ts'
import { describeSchedule, describeSource } from '../../src/sources/pull/describe-source.ts'
import { read } from '../config/support.ts'

const secret = 's3cret'
const key = `SHA256:${'a'.repeat(43)}`
const variable = (inside: string) => ['$', `{${inside}}`].join('')

const text = `
redis: { url: redis://127.0.0.1:6400/2 }
console: { listen: 127.0.0.1:0, token: "${variable('TOKEN')}" }
alerts: { url: https://hooks.example/${secret}, heartbeat: { url: https://beat.example/${secret} } }
catalogs:
  main:
    api:
      url: https://api.example/v1/
      productsToken: ${secret}
      emailToken: "${variable('TOKEN')}"
      account: shop-1
      proxy: http://user:${secret}@proxy.example:3128
    feeds:
      page:
        pull: { url: "https://shop.example/f.xml?key=${secret}", every: 15m, user: me, password: ${secret}, headers: { X-Key: "${variable('TOKEN')}" } }
      server:
        pull: { sftp: { host: sftp.example, user: me, password: ${secret}, hostKey: "${key}", folder: /out }, cron: "15 3 * * *", zone: Europe/Berlin }
        owns: [price]
      bucket:
        pull: { s3: { bucket: feeds, prefix: in/, accessKeyId: me, secretAccessKey: ${secret}, sessionToken: ${secret} }, every: 6h }
      folder:
        drop: ./drop
        expectEvery: 1d
        verify: sha256
        fields: { product_id: id, price: Preis }
      people: { kind: consents, drop: ./people }
`

async function loadedOf(changed = text) {
  const files = {
    'own.yaml': 'missing: { action: ignore }',
    'change.js': 'export default (record) => record',
  }
  return (await read(changed, { env: { TOKEN: secret }, files })).loaded
}

/** What `status` shows of it, or decides by it. */
function seenOf({ catalogs, redisUrl, stateDir }: Config) {
  return {
    ...{ redisUrl, stateDir },
    catalogs: [...catalogs.values()].map(({ name, api, feeds, consents, deferred }) => {
      return {
        ...{ name, deferred, endpoint: endpointOf(api), overlaps: rankFields(feeds).overlaps },
        feeds: [...feeds.values(), ...consents.feeds.values()].map(({ pull, ...feed }) => {
          return { ...feed, ...(pull && { from: describeSource(pull.source), when: describeSchedule(pull) }) }
        }),
      }
    }),
  }
}

test('what is noted for others has all that status shows, and no secret', async () => {
  const loaded = await loadedOf()
  const noted = JSON.stringify(noteShown(loaded))
  expect(noted).not.toContain(secret)
  expect(seenOf(readShown(JSON.parse(noted)))).toEqual(seenOf(loaded.config))
})

test.each([
  ['Redis asks for a password', 'redis://', `redis://:${secret}@`],
  ['the address of Redis has a query', '6400/2', `6400/2?password=${secret}`],
  ['a variable says where the state is', 'console:', `state: "./${variable('STATE:-state')}"\nconsole:`],
  ['a variable is part of a feed', 'expectEvery: 1d', `expectEvery: "${variable('EVERY:-1d')}"`],
  [
    'a variable is part of what is shown',
    'https://shop.example/',
    `https://shop.example/${variable('UNSET')}`,
  ],
  ['a preset is a file of its own', 'verify: sha256', 'preset: ./own.yaml'],
  ['a transform is a file of its own', 'verify: sha256', 'transform: ./change.js'],
])('nothing is noted where %s', async (_, from, to) => {
  expect(text).toContain(from)
  expect(noteShown(await loadedOf(text.replace(from, to)))).toBeUndefined()
})

test('a configuration that looks like what is noted stays what it is', () => {
  const rule = { kind: 'map', entries: [['a', 'b']], href: 'x', given: [], value: [] }
  expect(configFromPlain(JSON.parse(JSON.stringify(plainConfig(new Map([['fields', rule]])))))).toEqual(
    new Map([['fields', rule]]),
  )
})
