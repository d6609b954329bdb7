import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Workplace } from './daemon.ts'

const afterMs = 5_000

interface Product {
  id: string
  price: number
  text: string
}

const catalog = `
deferred: { after: 5s, atMost: 1m }
feeds:
  shop: { drop: ./drop/shop, mode: delta, settle: 0s }
`

/** Each product waits on its own, so all scenarios run side by side on one daemon. */
describe('edits that may wait', () => {
  let workplace: Workplace
  let drops = 0
  const ids = ['edited', 'edited-then-priced', 'edited-often', 'undone', 'edited-during-price']
  const original = (id: string): Product => ({ id, price: 10, text: `about ${id}` })

  const put = async (...products: Product[]): Promise<number> => {
    const header = 'product_id,name,url,image_url,availability,price,price_currency_code,description'
    const rows = products.map(({ id, price, text }) => {
      const address = `https://shop.example/${id}`
      return `${id},Name of ${id},${address},${address}.jpg,InStock,${price},EUR,"${text}"`
    })
    drops += 1
    const droppedAtMs = Date.now()
    // Files found together are taken in the order of their times, then names.
    const name = `drop-${String(drops).padStart(3, '0')}.csv`
    await workplace.drop('shop', name, `${[header, ...rows].join('\n')}\n`)
    return droppedAtMs
  }
  const drop = async (...products: Product[]): Promise<number> => {
    const droppedAtMs = await put(...products)
    await workplace.untilImported(drops)
    return droppedAtMs
  }

  beforeAll(async () => {
    workplace = await Workplace.open(catalog)
    await workplace.start()
    await drop(...ids.map(original))
    for (const id of ids) await workplace.untilTaken(id, 1)
    // An edit of a product whose first send is not acknowledged yet goes with it at once.
    await workplace.untilQuiet()
  })
  afterAll(() => workplace?.[Symbol.asyncDispose]())

  it('arrive after the delay, together, once, and not at all when they are undone', async () => {
    const editedAtMs = await drop(...ids.map((id) => ({ ...original(id), text: 'first edit' })))

    // While they wait: one product gets a price, one is edited nine times more, one edit is undone.
    await drop({ id: 'edited-then-priced', price: 11, text: 'first edit' })
    const priced = await workplace.untilTaken('edited-then-priced', 2)
    for (let edit = 2; edit <= 9; edit++) await put({ ...original('edited-often'), text: `edit ${edit}` })
    await drop(original('undone'))
    await drop(
      { ...original('edited-often'), text: 'edit 10' },
      { id: 'edited-during-price', price: 12, text: 'second edit' },
    )
    const together = await workplace.untilTaken('edited-during-price', 2)

    const edited = await workplace.untilTaken('edited', 2)
    const often = await workplace.untilTaken('edited-often', 2)
    await workplace.untilQuiet()

    expect(edited.document.description).toBe('first edit')
    expect((edited.receivedAtMs[1] ?? 0) - editedAtMs).toBeGreaterThanOrEqual(afterMs)

    expect(priced.document).toMatchObject({ price: 11, description: 'first edit' })
    expect(together.document).toMatchObject({ price: 12, description: 'second edit' })

    // Counted from the first edit that was not sent, not from the last one.
    expect(often.document.description).toBe('edit 10')
    expect((often.receivedAtMs[1] ?? 0) - editedAtMs).toBeGreaterThanOrEqual(afterMs)

    const times = await Promise.all(ids.map(async (id) => [id, (await workplace.held(id))?.times]))
    expect(Object.fromEntries(times)).toEqual({
      edited: 2,
      'edited-then-priced': 2,
      'edited-often': 2,
      'edited-during-price': 2,
      undone: 1,
    })
    expect((await workplace.held('undone'))?.document.description).toBe('about undone')
  })

  it('wait again after they were sent: each delay begins with the first edit behind the last send', async () => {
    const editedAtMs = await drop({ ...original('undone'), text: 'edited at last' })
    const held = await workplace.untilTaken('undone', 2)
    expect(held.document.description).toBe('edited at last')
    expect((held.receivedAtMs[1] ?? 0) - editedAtMs).toBeGreaterThanOrEqual(afterMs)
  })
})
