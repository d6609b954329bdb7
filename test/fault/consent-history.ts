/** One call as the sandbox shows it. */
export interface ConsentCall {
  atMs: number
  email: string | null
  consent: boolean | null
  status: number | null
  /** Of a fault that was set. */
  fault: string | null
}

/** What files that were accepted one after another say, address by address. */
export class ConsentHistory {
  readonly #statements = new Map<string, { file: number; consent: boolean }[]>()

  readonly #applied: readonly { files: number; atMs: number }[]

  /** `applied`: what is sent from then on was claimed when so many files stood in Redis. */
  constructor(
    files: readonly ReadonlyMap<string, boolean>[],
    applied: readonly { files: number; atMs: number }[] = [],
  ) {
    this.#applied = applied
    for (const [file, states] of files.entries()) {
      for (const [email, consent] of states) {
        const statements = this.#statements.get(email) ?? []
        this.#statements.set(email, statements)
        statements.push({ file, consent })
      }
    }
  }

  get emails(): number {
    return this.#statements.size
  }

  /** How many have a state now that they did not have after the first `files`. */
  changedSince(files: number): number {
    let changed = 0
    for (const statements of this.#statements.values()) {
      const before = statements.findLast(({ file }) => file < files)
      if (before?.consent !== statements.at(-1)?.consent) changed += 1
    }
    return changed
  }

  wrongStates(held: ReadonlyMap<string, boolean>): unknown[] {
    const wrong: unknown[] = []
    for (const [email, statements] of this.#statements) {
      const wanted = statements.at(-1)?.consent
      if (held.get(email) !== wanted) wrong.push({ email, wanted, held: held.get(email) })
    }
    for (const email of held.keys()) if (!this.#statements.has(email)) wrong.push({ email })
    return wrong
  }

  /**
   * Judges the calls of every address in their order: each is taken for the earliest statement that it can be. That is
   * one of the newest file that was applied before it or a later one, and a later one than that of the last call that
   * was answered well. `stale`: it says what was overtaken by then. `repeated`: it says what the call before it said,
   * though no fault was set upon that one.
   */
  judge(calls: readonly ConsentCall[]): { repeated: number; stale: unknown[] } {
    const reached = new Map<string, { call: ConsentCall; at: number }>()
    const stale: unknown[] = []
    let repeated = 0
    for (const call of calls) {
      if (call.email === null) continue
      const key = call.email.toLowerCase()
      const statements = this.#statements.get(key) ?? []
      const before = reached.get(key)
      const isAgain = before !== undefined && before.call.consent === call.consent
      if (isAgain && before.call.fault === null) repeated += 1
      const applied = this.#appliedBefore(call.atMs)
      const newest = statements.findLastIndex(({ file }) => file < applied)
      const from = Math.max(newest, before === undefined ? 0 : before.at + Number(before.call.status === 200))
      let at = statements.findIndex(({ consent }, index) => index >= from && consent === call.consent)
      if (at < 0 && isAgain) at = before.at
      if (at < 0) stale.push({ call, before, statements })
      else reached.set(key, { call, at })
    }
    return { repeated, stale }
  }

  #appliedBefore(atMs: number): number {
    return this.#applied.findLast((each) => each.atMs < atMs)?.files ?? 0
  }
}
