/**
 * Each rule that keeps mirror, Redis and endpoint together, by a name. A test takes one out to see that the oracle
 * finds what it prevents.
 */
export const ruleNames = [
  // The mirror.
  'durable before offered',
  'offered is noted before the offer',
  'digest follows the bytes',
  'a read place gets a new number',
  'an unread place keeps its number',
  'a place remembers that it was read',
  // The pump and the offer.
  'dropped only when nothing is held',
  'a drop is checked by the drain',
  'a limit for each lane',
  'urgent has a limit',
  'refusals keep their documents',
  // The drain.
  'a doubt reaches the mirror',
  'the place stays while anything is held',
  'the place stays when it was not read',
  'an older acknowledgement gives a place',
  'only the value that was taken is removed',
  'an acknowledgement is told from the next',
  'a decided refusal is told again',
  // Delivery.
  // Not needed to be right: it hides what goes wrong for those who read in Redis.
  'who has the mirror reads there',
  'a newer document settles the claimed one',
  'an expired claim is echoed',
  'an expiry waits for the time-out',
  'who holds no claim leaves a doubt',
  'an echo without document is requested',
  'an offer answers a request',
  'an echo outlives a refusal',
  'a refused echo leaves a doubt',
  // The guard.
  'the guard compares run ids',
  'the guard compares generations',
  'opening compares the guard',
  // Loss.
  'run ids are compared',
  'beats are compared',
  'a clean close raises the beat',
  'a repair opens last',
  'a loss leaves doubts',
  'a loss leaves echoes',
  'a loss empties Redis',
  'a pause is told again',
  // Start over.
  'inodes are compared',
  'a mirror that is behind is refused',
  'a mirror that is behind remembers it',
  'starting over believes nothing',
  'starting over waits',
  'a loss does not end the wait',
] as const

export type RuleName = (typeof ruleNames)[number]

export type Rules = Readonly<Record<RuleName, boolean>>

export const allRules = without()

export function without(...names: readonly RuleName[]): Rules {
  return Object.fromEntries(ruleNames.map((name) => [name, !names.includes(name)])) as Record<
    RuleName,
    boolean
  >
}
