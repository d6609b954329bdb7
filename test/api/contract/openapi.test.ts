import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Endpoint, endpoints } from '../../../src/api/contract/endpoints.ts'
import { ownMetadata } from '../../../src/api/contract/fields.ts'
import { buildOpenApi } from '../../../src/api/contract/openapi.ts'
import { networksByType, termNetworks } from '../../../src/api/contract/term.ts'
import { openApiStructure, operationsOf, standAlone } from './openapi-structure.ts'

const built = buildOpenApi({ version: '1.2.3' })
const document = openApiStructure.parse(JSON.parse(JSON.stringify(built)))

describe('the OpenAPI document', () => {
  it('has the structure of OpenAPI 3.1 and nothing that JSON cannot carry', () => {
    expect(openApiStructure.safeParse(built).error?.issues).toBeUndefined()
    expect(built).toEqual(document)
    expect(document.info.version).toBe('1.2.3')
  })

  it('describes every endpoint once, under its own name', () => {
    const described = operationsOf(document).map(({ path, method, operation }) => [
      operation.operationId,
      method,
      path,
    ])
    const expected = Object.values<Endpoint>(endpoints).map(({ name, method, path }) => [name, method, path])
    expect(described.toSorted()).toEqual(expected.toSorted())
    expect(new Set(described.map(([name]) => name)).size).toBe(expected.length)
    for (const [key, { name }] of Object.entries(endpoints)) expect(name).toBe(key)
  })

  it('resolves every reference and declares every security scheme and tag', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, target]) => target ?? '',
    )
    expect(references.length).toBeGreaterThan(50)
    for (const target of new Set(references)) {
      const [, , kind = '', name = ''] = target.split('/')
      expect(Object.keys(document.components[kind as 'schemas'] ?? {}), target).toContain(name)
    }
    const tags = document.tags.map(({ name }) => name)
    const schemes = Object.keys(document.components.securitySchemes)
    for (const { operation } of operationsOf(document)) {
      for (const tag of operation.tags) expect(tags).toContain(tag)
      for (const name of operation.security.flatMap((one) => Object.keys(one)))
        expect(schemes).toContain(name)
      expect(operation.security.length).toBeGreaterThan(0)
    }
  })

  it('declares every parameter of a path, as required, and no other', () => {
    for (const { path, operation } of operationsOf(document)) {
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(declared.map(({ name }) => name)).toEqual(inPath)
      expect(declared.every(({ required }) => required)).toBe(true)
    }
  })

  it('uses every component, and every schema can be compiled', () => {
    const text = JSON.stringify(document)
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      expect(text, name).toContain(`#/components/schemas/${name}"`)
      expect(() => z.fromJSONSchema(standAlone(document, schema)), name).not.toThrow()
    }
    const used = new Set(
      operationsOf(document).flatMap(({ operation }) => operation.security.flatMap(Object.keys)),
    )
    expect([...used].toSorted()).toEqual(Object.keys(document.components.securitySchemes).toSorted())
  })

  it('keeps to itself what only this program needs', () => {
    const found = [...JSON.stringify(document).matchAll(/"([\w-]+)":/g)].map(([, key]) => key ?? '')
    for (const name of [...ownMetadata, '$id', '$schema']) expect(found).not.toContain(name)
    expect(found.filter((name) => name.startsWith('x-'))).toEqual([])
    expect(JSON.stringify(document)).not.toContain(String(Number.MAX_SAFE_INTEGER))
  })

  it('says the rules that join the fields of a term in words', () => {
    const { description } = z
      .object({ description: z.string() })
      .parse(document.components.schemas.TermCreate)
    for (const [type, networks] of Object.entries(networksByType)) {
      expect(description).toContain(`${type}: ${networks === 'any' ? 'any network' : networks.join(', ')}`)
    }
    expect(description).toContain('source_user_id is required when type is user, page, gallery, set')
    expect(description).toContain('minimum_followers exists only for twitter terms of type search or hashtag')
    expect(JSON.stringify(document.components.schemas.TermCreate)).toContain(JSON.stringify(termNetworks))
  })

  it('names each group’s own base address, or where it is served', () => {
    const serversOf = (path: string, from = document) => from.paths[path]?.servers
    expect(serversOf('/api/users')?.[0]?.url).toBe('{base_url}')
    expect(serversOf('/v1/products/upsert')?.[0]?.url).toBe('{api_url}')
    expect(serversOf('/api/v1/customers/consent/{email}/{consent}')?.[0]?.url).toBe('{api_url}')
    expect(serversOf('/api')?.[0]?.url).toBe('{lim_url}')
    const servers = { stack: 'http://127.0.0.1:1', intent: '/' }
    const served = openApiStructure.parse(buildOpenApi({ version: '1', servers }))
    expect(serversOf('/api/terms', served)).toEqual([{ url: 'http://127.0.0.1:1' }])
    expect(serversOf('/api', served)).toEqual([{ url: '/' }])
    expect(serversOf('/v1/products/upsert', served)?.[0]?.url).toBe('{api_url}')
  })

  it('answers of the Stack have the envelope, and the headers of the rate limit', () => {
    for (const { path, operation } of operationsOf(document)) {
      const isStack = document.paths[path]?.servers[0]?.url === '{base_url}'
      const success = JSON.stringify(operation.responses['200'])
      expect(success.includes('X-API-Remaining-Requests-Reset'), path).toBe(isStack)
      expect(success.includes('"errors"'), path).toBe(isStack)
      expect(Object.keys(operation.responses)).toContain('401')
      expect(operation.description?.includes('Rate limited') ?? false, path).toBe(isStack)
    }
  })
})
