import { validateHeaderName, validateHeaderValue } from 'node:http'
import { z } from 'zod'

const delayMs = z.int().min(0).max(3_600_000)

/** When the products of a faulty call are taken: before the fault shows, after it, or not at all. */
export type Apply = 'before' | 'after' | 'never'

/** What a fault does, exactly one of these, with the values of `apply` that it knows (the first is the default). */
const actions: Readonly<Record<string, readonly Apply[]>> = {
  status: ['never', 'before'],
  hang: ['never', 'before'],
  reset: [],
  slow: ['after', 'before'],
  applyLate: [],
  half: ['before', 'never'],
  refuse: [],
}
const actionNames = Object.keys(actions).join(', ')

const headers = z
  .record(z.string(), z.union([z.string(), z.number().transform(String)]))
  .refine((entries) => {
    try {
      for (const [name, value] of Object.entries(entries)) {
        validateHeaderName(name)
        validateHeaderValue(name, value)
      }
      return true
    } catch {
      return false
    }
  }, 'a header has a name or value that HTTP does not allow')

/** Calls of one of the four groups of the API. */
export type FaultGroup = 'products' | 'consent' | 'intent' | 'stack'

const settingSchema = z.strictObject({
  name: z.string().min(1).max(100).optional(),
  /** Only calls of this group of the API; left out: product upserts. */
  group: z.enum(['products', 'consent', 'intent', 'stack', 'any']).optional(),
  /** Answers with this status, `body` (text as it is, anything else as JSON) and `headers`. */
  status: z.int().min(200).max(599).optional(),
  body: z.json().optional(),
  headers: headers.optional(),
  /** Never answers; a number: closes the connection after so many ms. */
  hang: z.union([z.literal(true), delayMs]).optional(),
  /** Resets the TCP connection before or after the products are taken. */
  reset: z.enum(['before', 'after']).optional(),
  /** Answers as usual, so many ms late. */
  slow: delayMs.optional(),
  /** Never answers, and takes the products after so many ms. */
  applyLate: delayMs.optional(),
  /** Sends half an answer, then closes the connection. */
  half: z.literal(true).optional(),
  /** 400 that names the products of `productIds` and takes the others, or 400 that names none and takes none. */
  refuse: z.enum(['named', 'unnamed']).optional(),
  reason: z.string().min(1).optional(),
  apply: z.enum(['before', 'after', 'never']).optional(),
  /** Only the next so many calls that match. */
  calls: z.int().min(1).optional(),
  /** Only this share of the calls that match, by a random sequence that `seed` repeats. */
  share: z.number().min(0).max(1).optional(),
  seed: z.int().optional(),
  /** Only calls that hold one of these products. */
  productIds: z
    .array(z.union([z.string(), z.number().transform(String)]))
    .min(1)
    .optional(),
  /** Only consent calls for one of these addresses. */
  emails: z.array(z.string()).min(1).optional(),
  /** Only calls whose body is larger. */
  overBytes: z.int().min(0).optional(),
  /** `true`: only calls that hold a product; `false`: only the empty ones that probe a token. */
  content: z.boolean().optional(),
})

export const faultSettingSchema = settingSchema.superRefine((setting, context) => {
  const chosen = Object.keys(actions).filter((name) => name in setting)
  const [action] = chosen
  if (action === undefined || chosen.length > 1) {
    context.addIssue(
      `a fault does exactly one of ${actionNames}; this one does ${chosen.join(' and ') || 'none'}`,
    )
    return
  }
  if (setting.apply !== undefined && !actions[action]?.includes(setting.apply)) {
    const known = actions[action]?.join(', ') || 'no value'
    context.addIssue(`apply of a ${action} fault takes ${known}`)
  }
  if (action !== 'status' && (setting.body !== undefined || setting.headers !== undefined)) {
    context.addIssue('body and headers belong to a status fault')
  }
  if (action !== 'refuse' && setting.reason !== undefined)
    context.addIssue('reason belongs to a refuse fault')
})

export type FaultSetting = z.infer<typeof faultSettingSchema>

export type RefuseAction = FaultAction & { kind: 'refuse' }

export type FaultAction =
  | { kind: 'status'; status: number; body: string; headers: Readonly<Record<string, string>>; apply: Apply }
  | { kind: 'hang'; forMs: number | undefined; apply: Apply }
  | { kind: 'reset'; when: 'before' | 'after' }
  | { kind: 'slow'; byMs: number; apply: Apply }
  | { kind: 'apply-late'; afterMs: number }
  | { kind: 'half'; apply: Apply }
  | { kind: 'refuse'; named: boolean; reason: string; ids: ReadonlySet<string> | undefined }

export function faultAction(setting: FaultSetting): FaultAction {
  const { apply } = setting
  if (setting.status !== undefined) return statusAction(setting, setting.status)
  if (setting.hang !== undefined) {
    return { kind: 'hang', forMs: setting.hang === true ? undefined : setting.hang, apply: apply ?? 'never' }
  }
  if (setting.reset !== undefined) return { kind: 'reset', when: setting.reset }
  if (setting.slow !== undefined) return { kind: 'slow', byMs: setting.slow, apply: apply ?? 'after' }
  if (setting.applyLate !== undefined) return { kind: 'apply-late', afterMs: setting.applyLate }
  if (setting.half !== undefined) return { kind: 'half', apply: apply ?? 'before' }
  return {
    kind: 'refuse',
    named: setting.refuse === 'named',
    reason: setting.reason ?? 'refused by a fault of the sandbox',
    ids: setting.productIds === undefined ? undefined : new Set(setting.productIds),
  }
}

function statusAction(setting: FaultSetting, status: number): FaultAction {
  const { body = { type: 'fault', message: `status ${status} by a fault of the sandbox` } } = setting
  const isText = typeof body === 'string'
  return {
    kind: 'status',
    status,
    body: isText ? body : JSON.stringify(body),
    headers: {
      'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
      ...lowerCaseKeys(setting.headers ?? {}),
    },
    apply: setting.apply ?? (status < 300 ? 'before' : 'never'),
  }
}

function lowerCaseKeys(entries: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).map(([name, value]) => [name.toLowerCase(), value]))
}
