import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { formatRequest, RawConnection, type RawRequest, sendRaw } from '../support/raw-http.ts'
import { emailAuth, form, json, open, productsAuth, stack, upsert } from './sdk-request.ts'

// Two vendors have SDKs in PHP. That of products writes every field that its classes have, null or an empty array where
// nothing was set; PHP has one kind of array, so an empty map is `[]`. That of the Stack puts nothing into the body of a
// PUT: all is in the query, and what is empty, false or 0 there has no value.

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await open()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

async function dataOf(request: RawRequest): Promise<unknown> {
  const { status, text } = await sendRaw(sandbox.url, request)
  expect(status, text).toBe(200)
  const answer = JSON.parse(text) as { data: unknown; errors: unknown[] }
  expect(answer.errors).toEqual([])
  return answer.data
}

describe('the SDK of products', () => {
  const unset = {
    ...{ list_price: null, description: null, brand: null, variation_id: null, supplier_cost: null },
    ...{ inventory_level: null, review_count: null, rating_value: null, date_published: null },
    ...{ condition: null, gender: null, age_group: null, gtin: null, google_category: null, thumb_url: null },
    ...{ unit_pricing_measure: null, unit_pricing_base_measure: null, unit_pricing_unit: null },
    ...{ categories: [], alternate_image_urls: [], tag1: [], tag2: [], tag3: [] },
    ...{ skus: [], variations: [], custom_fields: [] },
  }
  const set = {
    ...{
      url: 'https://shop.example/p',
      product_id: 1,
      name: 'Lamp',
      image_url: 'https://shop.example/i.jpg',
    },
    ...{ price: 10, price_currency_code: 'EUR', availability: 'InStock' },
  }
  const sku = {
    ...{ id: 12, name: null, price: 9.5, list_price: null, url: null, image_url: null, gtin: null },
    ...{ availability: 'InStock', custom_fields: [], inventory_level: null },
  }
  const variation = {
    ...{
      variation_id: 'EU',
      availability: 'InStock',
      price: 10,
      list_price: null,
      price_currency_code: 'EUR',
    },
  }
  const products: Record<string, object> = {
    'with nothing but what is required': { ...set, ...unset },
    'with a SKU': {
      ...unset,
      ...set,
      skus: [sku, { ...sku, id: '13', custom_fields: { size: 38, eco: true } }],
    },
    'with variations': { ...unset, ...set, variation_id: 'EU', variations: { EU: variation, US: variation } },
    'with ratings and tags': {
      ...{ ...unset, ...set, rating_value: 4.5, review_count: 3, tag1: ['a', 17], tag2: ['add-to-cart'] },
    },
    'with custom fields': {
      ...unset,
      ...set,
      custom_fields: { weight: 1.5, eco: false, none: null, '12': 'a' },
    },
    'that is deleted': { ...unset, ...set, availability: 'Discontinued' },
  }
  const headers = [['X-Shop-Account', 'shop-1'], ['Content-type', 'application/json'], productsAuth] as const

  it.each(Object.entries(products))('sends a product %s', async (_, product) => {
    // As json_encode does it.
    const body = JSON.stringify([product]).replaceAll('/', String.raw`\/`)
    const answer = await sendRaw(sandbox.url, upsert(body, { headers }))
    expect(answer).toMatchObject({ status: 200, text: '{}' })
    // Where PHP has no curl, its streams send it.
    const streamed = upsert(body, { headers: [...headers, ['Connection', 'close']], version: '1.0' })
    expect(await sendRaw(sandbox.url, streamed)).toMatchObject({ status: 200, text: '{}' })
  })

  it('is told of a product whose class was not filled', async () => {
    const body = [{ ...unset, ...set, name: null, image_url: null }]
    const { status, text } = await sendRaw(sandbox.url, upsert(body, { headers }))
    expect(status).toBe(400)
    const errors = 'name field is missing (name), image_url field is missing (imageUrl), '
    expect(JSON.parse(text)).toMatchObject({ type: 'has_errors', errors: [{ product_id: '1', errors }] })
  })

  it('waits for 100 Continue before a long body', async () => {
    await using connection = await RawConnection.open(sandbox.url)
    const body = JSON.stringify([{ ...unset, ...set, description: 'x'.repeat(1_500_000) }])
    const length = ['Content-Length', String(body.length)] as const
    const head = formatRequest({
      ...{ method: 'POST', target: '/v1/products/upsert' },
      headers: [...headers, length, ['Expect', '100-Continue']],
    })
    connection.write(head)
    const answered = connection.answer()
    connection.write(body)
    expect(await answered).toMatchObject({ status: 200, interim: [100] })
  })

  it.each(['true', 'false'])('sets a marketing permission to %s', async (flag) => {
    for (const email of ['ann@shop.example', 'ann+news@shop.example', "o'hara%2Bb@shop.example"]) {
      const target = `/v1/customers/consent/${email}/${flag}`
      const consentHeaders = [['X-Shop-Account', 'shop-1'], json, emailAuth, ['Content-Length', '0']] as const
      const request = { method: 'POST', target, headers: consentHeaders }
      expect(await sendRaw(sandbox.url, request)).toMatchObject({ status: 200, text: '{}' })
    }
  })
})

describe('the SDK of the Stack', () => {
  const agent = ['User-Agent', 'Guzzle/3.9.3 curl/7.64.0 PHP/7.3.33'] as const
  const put = (path: string, fields: [string, string][] = []) => {
    const query = new URLSearchParams(fields).toString()
    const target = `${path}${query === '' ? '' : `?${query}`}`
    return stack('PUT', target, { headers: [agent, ['Content-Length', '0']] })
  }
  const termFields: [string, string][] = [
    ...Object.entries({
      name: 'Shop',
      display_name: 'Our shop',
      active: '1',
      type: 'user',
      network: 'twitter',
    }),
    ...Object.entries({ term: 'shop', source_user_id: '4711', 'filter[0]': 'shoe', 'filter[1]': 'bag' }),
    ...Object.entries({ 'whitelist_handles[0]': 'ann', official: '0', 'tags[0]': '7', 'tags[1]': '8' }),
    ['num_of_backfill', '20'],
  ]
  const create = () => {
    const type = [form[0], `${form[1]}; charset=utf-8`] as const
    const body = new URLSearchParams(termFields).toString()
    return dataOf(stack('POST', '/api/terms', { headers: [agent, type], body })) as Promise<{ id: number }>
  }

  it('creates a term with lists, and reads it alone and in a page', async () => {
    const { id } = await create()
    const expected = {
      id,
      filter: 'shoe,bag',
      whitelist_handles: 'ann',
      tags: ['7', '8'],
      num_of_backfill: 20,
    }
    expect(await dataOf(stack('GET', `/api/terms/${id}`, { headers: [agent] }))).toMatchObject(expected)
    const page = await dataOf(stack('GET', '/api/terms?limit=25&page=1', { headers: [agent] }))
    expect(page).toContainEqual(expect.objectContaining(expected))
  })

  it('changes a term by the query alone', async () => {
    const { id } = await create()
    const changes: [string, string][] = [
      ...Object.entries({ name: 'New', 'filter[0]': 'hat', 'filter[1]': 'cap', active: '', 'tags[0]': '9' }),
    ]
    const changed = await dataOf(put(`/api/terms/${id}`, changes))
    expect(changed).toMatchObject({
      id,
      name: 'New',
      filter: 'hat,cap',
      tags: ['9'],
      display_name: 'Our shop',
    })
    expect(Boolean((changed as { active: unknown }).active)).toBe(false)
    // Nothing was set since it was read.
    expect(await dataOf(put(`/api/terms/${id}`))).toMatchObject({ name: 'New', filter: 'hat,cap' })
  })

  it('deletes a term', async () => {
    const { id } = await create()
    expect(await dataOf(stack('DELETE', `/api/terms/${id}`, { headers: [agent] }))).toEqual([])
    expect(await sendRaw(sandbox.url, stack('GET', `/api/terms/${id}`))).toMatchObject({ status: 404 })
  })

  it('reads a page of users, and changes one', async () => {
    const users = (await dataOf(stack('GET', '/api/users?limit=25&page=1', { headers: [agent] }))) as object[]
    expect(users.length).toBeGreaterThan(0)
    const fields: [string, string][] = [
      ...Object.entries({ name: 'Ann', 'acl_groups[0]': '1', 'acl_groups[1]': '3' }),
    ]
    expect(await dataOf(put('/api/users/2', fields))).toMatchObject({ id: 2, name: 'Ann' })
  })

  it('changes a rule and a view by the query alone', async () => {
    const rule = new URLSearchParams({
      ...{ name: 'Summer', 'trigger[$or][0][tags][$eq]': 'summer', enabled: '1', type: 'tile' },
      ...{ 'action[0][type]': '$addToSet', 'action[0][field]': 'tags', 'action[0][value]': 'warm' },
    })
    const made = (await dataOf(
      stack('POST', '/api/tilerules', { headers: [agent, form], body: rule.toString() }),
    )) as { id: number }
    expect(await dataOf(put(`/api/tilerules/${made.id}`, [['enabled', '']]))).toMatchObject({
      name: 'Summer',
    })
    expect(await dataOf(put(`/api/tilerules/${made.id}/apply`))).toMatchObject({ id: made.id })
    const view = (await dataOf(
      stack('POST', '/api/moderationviews', {
        headers: [agent, form],
        body: 'view_name=Mine&columns_tags_col=1',
      }),
    )) as { id: number }
    const renamed = await dataOf(put(`/api/moderationviews/${view.id}`, [['view_name', 'Ours']]))
    expect(renamed).toMatchObject({ id: view.id, view_name: 'Ours' })
  })
})
