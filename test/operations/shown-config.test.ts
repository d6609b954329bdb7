import { expect, test } from 'vitest'
import { rankFields } from '../../src/catalog/ranks.ts'
import type { Config } from '../../src/config/model.ts'
import { noteShown, readShown } from '../../src/operations/shown-config.ts'
import { endpointOf } from '../../src/outbox/endpoint.ts'
import { describeSchedule, describeSource } from '../../src/sources/pull/describe-source.ts'
import { read } from '../config/support.ts'

const secret = 's3cret'
const key = `SHA256:${'a'.repeat(43)}`
const text = `
redis: { url: redis://127.0.0.1:6400/2 }
console: { listen: 127.0.0.1:0, token: ${secret} }
alerts: { url: https://hooks.example/${secret}, heartbeat: { url: https://beat.example/${secret} } }
catalogs:
  main:
    api:
      url: https://api.example/v1/
      productsToken: ${secret}
      emailToken: "\${TOKEN}"
      account: shop-1
      proxy: http://user:${secret}@proxy.example:3128
    feeds:
      page:
        pull: { url: "https://shop.example/f.xml?key=${secret}", every: 15m, user: me, password: ${secret}, headers: { X-Key: ${secret} } }
      unset:
        pull: { url: "https://shop.example/\${NOT_SET}", every: 1h }
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

async function configOf(changed = text): Promise<Config> {
  return (await read(changed, { env: { TOKEN: secret } })).loaded.config
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
  const config = await configOf()
  const noted = JSON.stringify(noteShown(config))
  expect(noted).not.toContain(secret)
  expect(seenOf(readShown(JSON.parse(noted)))).toEqual(seenOf(config))
})

test('nothing is noted where Redis asks for a password', async () => {
  const config = await configOf(text.replace('redis://', `redis://:${secret}@`))
  expect(config.redisUrl).toContain(secret)
  expect(noteShown(config)).toBeUndefined()
})
