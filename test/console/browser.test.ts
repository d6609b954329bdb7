import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Workplace } from '../acceptance/daemon.ts'
import { isBrowserMissing, openBrowser } from '../support/browser.ts'
import { waitFor } from '../support/events.ts'
import { freePort } from '../support/redis-server.ts'

// An operator at the console of a real daemon, at a desk and at a telephone. One daemon for all: what one test decides,
// the next one finds decided.

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** A folder for a picture of every page, for who wants to look at them. */
const pictures = process.env.CONSOLE_PICTURES
const withinMs = 180_000
const products = Array.from({ length: 60 }, (_, nth) => `SKU-${nth + 10}`)
const hostile = '<script>alert(1)</script><img src=x onerror=alert(2)> "lamp" & \u202eetihw'
const refused = ['SKU-10', 'SKU-11', 'SKU-12', 'SKU-13', 'SKU-14', 'SKU-15']

const catalog = `
deferred: { after: 1s, atMost: 5s }
feeds:
  products:
    drop: ./drop/products
    settle: 0s
    expectEvery: 1h
    missing: { atMost: 10% }
    rejects: { atMost: 50% }
`

const columns = 'product_id,name,url,image_url,availability,price,price_currency_code'

function feedFile(ids: readonly string[], price: string): string {
  const rows = ids.map((id, nth) => {
    const name = nth === 1 ? hostile.replaceAll('"', '""') : `Rain jacket ${id}`
    const address = `https://shop.example/${id}`
    return `${id},"${name}",${address},${address}.jpg,InStock,${price},EUR`
  })
  return [columns, ...rows, ''].join('\n')
}

let site: Workplace
let url: string
let browser: Browser
let context: BrowserContext | undefined
const complaints: string[] = []

describe.skipIf(isBrowserMissing)('the console in a browser', () => {
  beforeAll(async () => {
    url = `http://127.0.0.1:${await freePort()}`
    const listen = new URL(url).host
    const top = `console: { listen: "${listen}", token: an-operator, readToken: a-reader }\n`
    site = await Workplace.open(catalog, { top })
    await site.start()
    browser = await openBrowser()
    await site.drop('products', 'first.csv', feedFile(products, '10.00'))
    await site.untilImported(1)
    await site.untilQuiet()
    await site.fault({ refuse: 'named', reason: 'price 12 is too low', productIds: refused, name: 'low' })
    await site.drop(
      'products',
      'second.csv',
      feedFile(products.slice(0, 20), '12.00') + feedFile(['SKU-90'], 'none').replace(`${columns}\n`, ''),
    )
    await site.untilImported(2)
    await waitFor(async () => (await site.status()).overview.dead === refused.length, {
      withinMs,
      what: 'dead letters',
    })
    await clearFaults()
  }, 300_000)
  afterEach(async () => {
    await context?.close()
    expect(complaints.splice(0)).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await site?.[Symbol.asyncDispose]()
  })

  it.each([
    [1280, 'light'],
    [360, 'dark'],
  ] as const)('shows every page at %i px, %s, with nothing wrong for anybody', async (width, colorScheme) => {
    const page = await openPage({ width, colorScheme })
    await page.goto(`${url}/feeds`)
    await look(page, 'login')
    await page.getByLabel('Token').fill('another')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('not the right token').waitFor()
    await look(page, 'login-refused')
    await page.getByLabel('Token').fill('an-operator')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('heading', { name: 'Feeds and imports' }).waitFor()
    for (const [name, heading] of pagesByName) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      await look(page, name)
    }
    await page.getByRole('navigation').getByRole('link', { name: 'Feeds' }).click()
    await page.getByRole('link', { name: '2', exact: true }).last().click()
    await page.getByRole('heading', { name: 'Import 2', level: 1 }).waitFor()
    await look(page, 'import')
    await page.getByText('Approve …').click()
    await look(page, 'import-approve')
    const [report] = await Promise.all([
      page.waitForEvent('download'),
      page.getByText('Report (JSON)').click(),
    ])
    expect(report.suggestedFilename()).toBe('00000002-products.json')
    const [rejects] = await Promise.all([
      page.waitForEvent('download'),
      page.getByText('Rejected records').click(),
    ])
    expect(rejects.suggestedFilename()).toMatch(/rejects\.csv$/)
    await page.goto(`${url}/queues/`)
    await page.getByText('main-deliveries').first().waitFor()
  })

  it('follows what happens without being loaded again', async () => {
    const page = await openPage({ token: 'an-operator' })
    await page.goto(url)
    await page
      .locator('.verdict', { hasText: 'Somebody should look: import 2 of second.csv is held' })
      .waitFor()
    await page.locator('.chart canvas').first().waitFor()
    await page.evaluate('globalThis.stays = true')
    await site.runHere('pause')
    await page.locator('.verdict', { hasText: 'Nothing is sent: paused by an operator' }).waitFor()
    await site.runHere('resume')
    await page.locator('.verdict', { hasText: 'Somebody should look' }).waitFor()
    expect(await page.evaluate('globalThis.stays')).toBe(true)
    // What somebody opened stays open while everything around it is shown anew.
    await page.goto(`${url}/feeds`)
    await page.getByText('Approve …').click()
    const ages = () => page.locator('time').allInnerTexts()
    const before = (await ages()).join()
    await waitFor(async () => (await ages()).join() !== before, { withinMs, what: 'other ages' })
    await page.getByRole('button', { name: 'Approve' }).waitFor()
  })

  it.each([1280, 360])('retries and drops dead letters at %i px', async (width) => {
    const page = await openPage({ width, token: 'an-operator' })
    await page.goto(`${url}/dead-letters`)
    const [retried, dropped] = width === 1280 ? ['SKU-10', 'SKU-11'] : ['SKU-12', 'SKU-13']
    const taken = (await site.held(retried))?.times ?? 0
    await page.getByRole('button', { name: `Retry ${retried}` }).click()
    await page.getByText(`${retried}: sent once more.`).waitFor()
    await site.untilTaken(retried, taken + 1)
    await page.getByRole('button', { name: `Drop ${dropped}` }).click()
    await page.getByText(`${dropped}: dropped until a newer document comes.`).waitFor()
    await page.getByRole('link', { name: dropped, exact: true }).waitFor({ state: 'detached' })
    await look(page, 'dead-letters-settled')
    if (width === 1280) return
    await page.getByRole('button', { name: 'Retry these 2' }).click()
    await page.getByText('2 products: sent once more.').waitFor()
    await page.getByText('The endpoint has refused no product.').waitFor()
  })

  it.each([1280, 360])('finds products, and tells the story of each, at %i px', async (width) => {
    const page = await openPage({ width, token: 'an-operator' })
    await page.goto(`${url}/products`)
    await page.getByRole('searchbox').fill('SKU-2')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'SKU-20', exact: true }).waitFor()
    expect(await page.getByRole('table').getByRole('link').count()).toBe(10)
    await look(page, 'products-found')
    // Words are found once the index is filled, which happens by itself.
    await page.getByRole('searchbox').fill('alert lamp')
    await page.keyboard.press('Enter')
    await page.getByText(hostile).waitFor()
    await page.getByRole('link', { name: 'SKU-11', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'SKU-11' }).waitFor()
    await page.getByText('Given up by an operator').waitFor()
    await look(page, 'product')
    await page.goto(`${url}/product?id=SKU-20`)
    await page.getByText('At rest: the endpoint').waitFor()
    await page.getByRole('cell', { name: /price: 10 → 12/ }).waitFor()
    const taken = (await site.held('SKU-20'))?.times ?? 0
    await page.getByRole('button', { name: 'Send once more' }).click()
    await page.getByText('SKU-20 will be sent once more.').waitFor()
    await site.untilTaken('SKU-20', taken + 1)
    await page.goto(`${url}/product?id=nobody`)
    await page.getByText('No feed has named such a product.').waitFor()
    await page.goto(`${url}/calls`)
    await page.getByLabel('Status').selectOption('failed')
    await page.getByLabel('Product id').fill('SKU-12')
    await page.getByRole('button', { name: 'Filter' }).click()
    await look(page, 'calls-filtered')
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByRole('heading', { level: 1, name: /^Call / }).waitFor()
    await look(page, 'call')
  })

  it('pauses and resumes, approves and discards, with the keyboard alone', async () => {
    const page = await openPage({ token: 'an-operator' })
    await page.goto(url)
    await press(page, 'Skip to the content')
    expect(await page.evaluate('document.activeElement.id')).toBe('content')
    await press(page, 'Pause calls …')
    await press(page, 'Pause calls')
    await page.getByText('Paused: no calls are made until you resume.').waitFor()
    await press(page, 'Resume calls')
    await page.getByText('Resumed.').waitFor()
    await press(page, 'Feeds')
    await page.getByRole('heading', { name: 'Feeds and imports' }).waitFor()
    await press(page, 'Discard …')
    await press(page, 'Discard')
    await page.getByText('Discarded: the removal of 40 of 60 products').waitFor()
    await site.drop('products', 'third.csv', feedFile(products.slice(0, 30), '13.00'))
    await press(page, 'Approve …', 'third.csv')
    await press(page, 'Approve')
    await page.getByText('Approved: the removal of 30 of 60 products').waitFor()
    await site.untilQuiet()
    expect((await site.held('SKU-69'))?.document.availability).toBe('OutOfStock')
    await press(page, 'Settings')
    await page.getByRole('cell', { name: 'Approved: the removal of 30 of 60 products' }).waitFor()
    await look(page, 'settings-audit')
    await press(page, 'Log out (operator)')
    await page.getByLabel('Token').waitFor()
  })

  it('lets a reader look, and do nothing', async () => {
    const page = await openPage({ token: 'a-reader' })
    for (const path of ['/', '/feeds', '/dead-letters', '/imports/2']) {
      await page.goto(url + path)
      expect(await page.locator('main button, main summary').count()).toBe(0)
    }
  })

  it('says in the settings that the file has changed', async () => {
    const page = await openPage({ token: 'an-operator' })
    await page.goto(`${url}/settings`)
    await page.getByText('The daemon runs with what the file says.').waitFor()
    expect(await page.locator('body').innerText()).not.toMatch(/an-operator|a-reader|acceptance-token/)
  })
})

const pagesByName = [
  ['Overview', 'Overview'],
  ['Feeds', 'Feeds and imports'],
  ['Products', 'Products'],
  ['Calls', 'Calls'],
  ['Dead letters', 'Dead letters'],
  ['Settings', 'Settings'],
] as const

interface Opened {
  width?: number
  colorScheme?: 'light' | 'dark'
  token?: string
}

async function openPage({ width = 1280, colorScheme = 'light', token }: Opened): Promise<Page> {
  context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, acceptDownloads: true })
  context.setDefaultTimeout(withinMs)
  const page = await context.newPage()
  page.on('console', (message) => {
    // The answer to a wrong token is a refusal.
    const isLogin = message.location().url.endsWith('/login')
    if (['error', 'warning'].includes(message.type()) && !isLogin) complaints.push(message.text())
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('dialog', (dialog) => complaints.push(`a dialog says ${dialog.message()}`))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:'))
      complaints.push(request.url())
  })
  if (token !== undefined) {
    await page.goto(`${url}/login`)
    await page.getByLabel('Token').fill(token)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  }
  return page
}

/** Whatever a person needs to use it: checked by axe, and nothing stands beside the screen. */
async function look(page: Page, name: string): Promise<void> {
  if (pictures) {
    const { width } = page.viewportSize() ?? { width: 0 }
    await page.screenshot({
      path: join(pictures, `${name.replaceAll(' ', '-')}-${width}.png`),
      fullPage: true,
    })
  }
  // Its own policy would keep a page from running what a test brings along; evaluate is not asked.
  await page.evaluate(axe)
  const { violations, overflow } = (await page.evaluate(`(async () => {
    const { violations } = await axe.run()
    const { scrollWidth, clientWidth } = document.documentElement
    const found = violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '))
    return { violations: found, overflow: scrollWidth - clientWidth }
  })()`)) as { violations: string[]; overflow: number }
  expect({ name, violations, overflow }).toEqual({ name, violations: [], overflow: 0 })
}

/** Goes to something by the tab key, as far as it takes, and presses Enter. `inside`: what its surroundings say. */
async function press(page: Page, label: string, inside = ''): Promise<void> {
  const isThere = async () => {
    await page.keyboard.press('Tab')
    const focused = page.locator(':focus')
    if ((await focused.count()) === 0) return false
    const text = (await focused.getAttribute('aria-label')) ?? (await focused.innerText())
    if (text !== label) return false
    return (await focused.locator('xpath=ancestor::*[contains(@class, "card")]').allInnerTexts())
      .join()
      .includes(inside)
  }
  await waitFor(isThere, { withinMs, what: `"${label}" by the tab key` })
  await page.keyboard.press('Enter')
}

async function clearFaults(): Promise<void> {
  await fetch(`${site.sandbox.url}/sandbox/faults`, { method: 'DELETE' })
}
