import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Endpoint, endpoints } from '../../src/api/contract/endpoints.ts'
import { isBrowserMissing, openBrowser } from '../support/browser.ts'
import { openTestSandbox, type TestSandbox } from './harness.ts'

let sandbox: TestSandbox

beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const operations = Object.values<Endpoint>(endpoints)

describe('/openapi.json', () => {
  it('describes all operations, at the address that was asked', async () => {
    const response = await fetch(`${sandbox.url}/openapi.json`)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const { openapi, paths } = (await response.json()) as {
      openapi: string
      paths: Record<string, Record<string, unknown> & { servers: { url: string }[] }>
    }
    expect(openapi).toMatch(/^3\.1\./)
    for (const { method, path } of operations) {
      expect(paths[path]).toHaveProperty(method.toLowerCase())
      expect(paths[path]?.servers).toEqual([{ url: sandbox.url }])
    }
  })
})

describe('the files of the reference page', () => {
  it.each([
    ['/', 'text/html', 'no-cache'],
    ['/reference', 'text/html', 'no-cache'],
    ['/reference/', 'text/html', 'no-cache'],
    ['/reference/start.js', 'text/javascript', 'no-cache'],
    ['/reference/swagger-ui.css', 'text/css', 'public, max-age=3600'],
    ['/reference/swagger-ui-bundle.js', 'text/javascript', 'public, max-age=3600'],
  ])('%s is %s, cached %s, and let nothing else in', async (path, type, caching) => {
    const response = await fetch(sandbox.url + path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain(type)
    expect(response.headers.get('cache-control')).toBe(caching)
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    await response.text()
  })

  it.each(['/reference/package.json', '/reference/../package.json', '/reference/%2e%2e%2fpackage.json'])(
    '%s is none of them',
    async (path) => {
      expect((await fetch(sandbox.url + path)).status).toBe(404)
    },
  )
})

describe.skipIf(isBrowserMissing)('the reference page in a browser', () => {
  let browser: Browser
  let page: Page
  const complaints: string[] = []
  const requested: string[] = []

  beforeAll(async () => {
    browser = await openBrowser()
    page = await browser.newPage()
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => requested.push(request.url()))
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`))
    await page.goto(`${sandbox.url}/`)
    await page
      .locator('.opblock')
      .nth(operations.length - 1)
      .waitFor()
  }, 300_000)
  afterAll(() => browser?.close())

  it('shows every operation', async () => {
    const shown = await page.locator('.opblock-summary').evaluateAll((blocks) =>
      blocks.map((block) => {
        const text = (selector: string) => block.querySelector(selector)?.textContent ?? ''
        return `${text('.opblock-summary-method')} ${text('.opblock-summary-path').replaceAll('\u200b', '')}`
      }),
    )
    expect(shown.toSorted()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).toSorted())
  })

  it('shows the fields and an example of a body', async () => {
    const block = page.locator('.opblock', { hasText: '/v1/products/upsert' })
    await block.locator('.opblock-summary-control').click()
    await block.getByText('Trail running shoe').first().waitFor()
  })

  it('sends what is tried out to the sandbox itself', async () => {
    const block = page.locator('.opblock', { hasText: 'Users of the admin portal' })
    await block.locator('.opblock-summary-control').click()
    await block.getByRole('button', { name: 'Try it out' }).click()
    await block.getByRole('button', { name: 'Execute' }).click()
    await block.getByText('"username"').first().waitFor()
  })

  it('asks no other host and complains of nothing', () => {
    const others = requested.filter((url) => !url.startsWith(`${sandbox.url}/`) && !url.startsWith('data:'))
    expect({ others, complaints }).toEqual({ others: [], complaints: [] })
  })
})
