import { seededRandom } from '../../lib/seeded-random.ts'
import { type FaultAction, type FaultGroup, type FaultSetting, faultAction } from './fault-schema.ts'

/** What a fault may look at: a call whose body has been read. */
export interface FaultSubject {
  group: FaultGroup
  bytes: number
  /** Of the products of an upsert, or the lower-cased e-mail address of a consent. */
  ids: readonly string[]
}

export interface Fault {
  readonly id: number
  readonly name: string
  readonly action: FaultAction
}

interface Entry extends Fault {
  readonly setting: FaultSetting
  readonly productIds: ReadonlySet<string> | undefined
  readonly random: () => number
  applied: number
}

/** The faults that are set, in the order in which they were set; the first that matches a call is applied. */
export class Faults {
  #entries: Entry[] = []
  #nextId = 1

  add(settings: readonly FaultSetting[]): object[] {
    const added = settings.map((setting): Entry => {
      const id = this.#nextId++
      const action = faultAction(setting)
      return {
        id,
        name: setting.name ?? (action.kind === 'status' ? `status ${action.status}` : action.kind),
        action,
        setting,
        productIds: idsOf(setting),
        random: seededRandom(setting.seed ?? 1),
        applied: 0,
      }
    })
    this.#entries.push(...added)
    return added.map(describeEntry)
  }

  list(): object[] {
    return this.#entries.map(describeEntry)
  }

  /** False when there is no such fault. */
  remove(id: number): boolean {
    const before = this.#entries.length
    this.#entries = this.#entries.filter((entry) => entry.id !== id)
    return this.#entries.length < before
  }

  clear(): void {
    this.#entries = []
  }

  /** The fault that applies to this call; counts it as applied. */
  match(subject: FaultSubject): Fault | undefined {
    for (const entry of this.#entries) {
      if (!matches(entry, subject)) continue
      entry.applied += 1
      return entry
    }
    return undefined
  }
}

function matches(entry: Entry, subject: FaultSubject): boolean {
  const { setting, productIds } = entry
  const { group = 'products' } = setting
  if (group !== 'any' && group !== subject.group) return false
  if (setting.calls !== undefined && entry.applied >= setting.calls) return false
  if (setting.overBytes !== undefined && subject.bytes <= setting.overBytes) return false
  if (setting.content !== undefined && setting.content !== subject.ids.length > 0) return false
  if (productIds !== undefined && !subject.ids.some((id) => productIds.has(id))) return false
  // Drawn last, so that the sequence belongs to the calls that match and can be repeated.
  return setting.share === undefined || entry.random() < setting.share
}

function idsOf({ productIds, emails }: FaultSetting): ReadonlySet<string> | undefined {
  if (productIds === undefined && emails === undefined) return undefined
  return new Set([...(productIds ?? []), ...(emails ?? []).map((email) => email.trim().toLowerCase())])
}

function describeEntry(entry: Entry): object {
  const { calls } = entry.setting
  return {
    id: entry.id,
    ...entry.setting,
    name: entry.name,
    applied: entry.applied,
    ...(calls === undefined ? {} : { remaining: calls - entry.applied }),
  }
}
