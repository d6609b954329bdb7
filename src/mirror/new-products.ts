import type { NewCallAnswer, NewCallRequest, TakenProducts } from './loop-model.ts'

/** Calls whose products are at hand, so that none waits for the thread of the mirror. */
const stockMax = 2

/** Whether Redis knows the products of a call now; not where all is sent again. */
type IsBound = boolean

/**
 * New products of the mirror, where calls are made: the thread of the mirror hands over those of one call at a time, and Redis
 * hears only of those of calls that have not ended well.
 */
export class NewProducts {
  readonly #post: (request: NewCallRequest) => void
  readonly #onReady: () => void
  #stock: TakenProducts[] = []
  #asked = 0
  #isDue = false
  /** Of the guard: no call begins with another one. */
  session = ''
  readonly #held = new Set<string>()
  #binding = new Map<string, PromiseWithResolvers<IsBound>>()

  constructor(post: (request: NewCallRequest) => void, onReady = () => {}) {
    this.#post = post
    this.#onReady = onReady
  }

  /** Products for a call are at hand. */
  get isReady(): boolean {
    return this.#stock.length > 0
  }

  /** Some wait that fill no call. */
  get isDue(): boolean {
    return this.#isDue
  }

  /** Calls are made here, of at most so many bytes: those of the next ones are to be at hand. To be repeated every second. */
  prepare(bytesMax: number, isPart = false): void {
    const calls = Math.max(0, stockMax - this.#asked - this.#stock.length)
    this.#asked += calls
    this.#post({ kind: 'want', calls, bytesMax, isPart })
    if (isPart) this.#isDue = false
  }

  take(): TakenProducts | undefined {
    return this.#stock.shift()
  }

  /** It was not taken after all. */
  putBack(taken: TakenProducts): void {
    if (this.isHeld(taken)) this.#stock.unshift(taken)
  }

  /** Nobody else sends them. */
  isHeld({ token }: TakenProducts): boolean {
    return this.#held.has(token)
  }

  /** The endpoint took them all. */
  settle(token: string): void {
    this.#held.delete(token)
    this.#post({ kind: 'settled', token })
  }

  /** In Redis they become those of this claim. */
  bind(token: string, claim: string): Promise<IsBound> {
    const bound = Promise.withResolvers<IsBound>()
    this.#held.delete(token)
    this.#binding.set(token, bound)
    this.#post({ kind: 'bind', token, claim })
    return bound.promise
  }

  /** Nothing of the stock is sent. */
  giveBack(): void {
    for (const { token } of this.#stock.splice(0)) this.#return(token)
    this.#post({ kind: 'rest' })
  }

  #return(token: string): void {
    this.#held.delete(token)
    this.#post({ kind: 'return', token })
  }

  receive(answer: NewCallAnswer): void {
    switch (answer.kind) {
      case 'opened':
        this.session = answer.session
        return
      case 'taken':
        this.#asked = Math.max(0, this.#asked - 1)
        this.#isDue = false
        this.#stock.push(answer.taken)
        this.#held.add(answer.taken.token)
        this.#onReady()
        return
      case 'due':
        this.#isDue = true
        this.#onReady()
        return
      case 'recalled':
        if (!this.#stock.some(({ token }) => token === answer.token)) return
        this.#stock = this.#stock.filter(({ token }) => token !== answer.token)
        this.#return(answer.token)
        return
      case 'bound':
        this.#binding.get(answer.token)?.resolve(true)
        this.#binding.delete(answer.token)
        return
      case 'forgotten':
        this.#stock = []
        this.#held.clear()
        this.#asked = 0
        this.#isDue = false
        for (const { resolve } of this.#binding.values()) resolve(false)
        this.#binding.clear()
        return
      default:
        answer satisfies never
    }
  }
}
