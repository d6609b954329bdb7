/**
 * Releases what was opened, last opened first. Every release runs even if an earlier one fails; the failures are
 * thrown together at the end.
 */
export class ReleaseStack implements AsyncDisposable {
  readonly #releases: { name: string; release: () => PromiseLike<void> | void }[] = []

  /** Remembers how to release something that has just been opened. */
  push(name: string, release: () => PromiseLike<void> | void): void {
    this.#releases.push({ name, release })
  }

  /** Remembers a disposable and returns it. */
  use<T extends AsyncDisposable>(name: string, resource: T): T {
    this.push(name, () => resource[Symbol.asyncDispose]())
    return resource
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: Error[] = []
    for (let entry = this.#releases.pop(); entry; entry = this.#releases.pop()) {
      try {
        await entry.release()
      } catch (cause) {
        failures.push(new Error(`releasing ${entry.name} failed`, { cause }))
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be released')
  }
}
