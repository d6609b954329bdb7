/** What the Stack holds that can be kept in files; the order is that of the files and of what is shown. */
export const stackKinds = ['rules', 'views', 'terms', 'users'] as const
export type StackKind = (typeof stackKinds)[number]

export type Fields = Readonly<Record<string, unknown>>
export type ItemId = number | string

/** Where something stands in a file, counted from 1. */
export interface Place {
  file: string
  line: number
  column: number
}

/** An item as a file wants it. Fields that it does not name stay as they are. */
export interface DesiredItem {
  /** Unique among the items of its kind. */
  name: string
  /** Of a user whose file entry has no username: the name is the e-mail address. */
  namedBy: 'name' | 'email'
  /** In the contract's form where they could be brought into it; without the name of what cannot be renamed. */
  fields: Fields
  place: Place
  places: ReadonlyMap<string, Place>
}

export interface ExistingItem {
  id: ItemId
  /** Empty: it has none, and no file can speak of it. */
  name: string
  /** Fields that a file may name, in the contract's form. An empty text or list: the field is empty. */
  fields: Fields
  /** What the service tells beyond the contract. */
  others: Fields
}

export interface FieldChange {
  field: string
  /** Undefined: nothing. */
  before: unknown
  /** Undefined: it is lost, because the item is created again and cannot have it any more. */
  after: unknown
  /** It can be given only when the item is created. */
  createOnly?: true
}

interface StepBase {
  kind: StackKind
  name: string
}

export type Step =
  | (StepBase & { action: 'create'; fields: Fields })
  | (StepBase & { action: 'update'; id: ItemId; changes: readonly FieldChange[]; fields: Fields })
  | (StepBase & { action: 'replace'; id: ItemId; changes: readonly FieldChange[]; fields: Fields })
  | (StepBase & { action: 'delete'; id: ItemId })

export interface ItemReference extends StepBase {
  id: ItemId
}

export interface StackPlan {
  /** In the order in which they are done. */
  steps: readonly Step[]
  unchanged: number
  /** At the service and not in the files; left as they are. */
  notInFiles: readonly ItemReference[]
  /** Without a name at the service: no file can speak of them. */
  unnamed: readonly ItemReference[]
  /** What the steps bring about elsewhere. */
  warnings: readonly string[]
}

export interface StackProblem {
  place?: Place
  message: string
}

export type StackItems<Item> = Readonly<Partial<Record<StackKind, readonly Item[]>>>
