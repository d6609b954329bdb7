/** One line below `fields`, and why it stands there. */
export interface RuleGuess {
  field: string
  /** In the words of the configuration. */
  rule: unknown
  comment: string
  /** Nothing in the file says so: somebody has to look at it. */
  open?: true
}

/** What a file cannot know and its owner does. */
export interface Given {
  shopUrl: string | undefined
  currency: string | undefined
  /** A column, a template, or a rule in YAML's flow form, parsed. */
  id: unknown
}
