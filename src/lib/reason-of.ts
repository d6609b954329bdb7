interface Described {
  /** The whole sentence. */
  message: string
  /** What it may begin with. */
  field: string | undefined
  /** What it says is to be done. */
  remedy?: string | undefined
}

/** What is wrong: the message without the field it begins with and without the remedy. */
export function reasonOf({ message, field, remedy }: Described): string {
  const start = field !== undefined && message.startsWith(`${field}: `) ? `${field}: `.length : 0
  const at = remedy ? message.lastIndexOf(remedy) : -1
  if (remedy === undefined || at < start) return message.slice(start)
  return message.slice(start, at).replace(/[;:,] $/, '') + message.slice(at + remedy.length)
}
