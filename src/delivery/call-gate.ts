/**
 * Stops calls of this process whose claim was granted before the endpoint refused the credentials (G8): Redis knows
 * of a pause only after it was written, and another slot may hold a claim that it has not sent yet.
 */
export class CallGate {
  #closings = 0

  /** Taken before a claim is asked for; good until the gate closes. */
  pass(): number {
    return this.#closings
  }

  isOpen(pass: number): boolean {
    return pass === this.#closings
  }

  /** Every pass taken so far is worthless from now on. */
  close(): void {
    this.#closings += 1
  }
}
