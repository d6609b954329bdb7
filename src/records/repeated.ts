/**
 * The contents of several elements with one name, which XML files repeat where one is meant as well as where a list is:
 * unlike a list of JSON, it may stand for one value.
 */
export class Repeated extends Array<unknown> {
  /** Mapped and filtered, it is a list like any other. */
  static override get [Symbol.species]() {
    return Array
  }
}

export function isRepeated(value: unknown): value is Repeated {
  return value instanceof Repeated
}
