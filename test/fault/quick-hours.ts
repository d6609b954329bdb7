import { syncBuiltinESMExports } from 'node:module'
import promises from 'node:timers/promises'

// Loaded before the program (`node --import`): its clock is ahead by AHEAD_MS, and what it does once an hour, the first
// time after a minute, it does ten times a second.

const aheadMs = Number(process.env.AHEAD_MS ?? 0)
const minuteMs = 60_000
const hourMs = 60 * minuteMs

const { now } = Date
Date.now = () => now() + aheadMs

const { setTimeout } = promises
promises.setTimeout = (delayMs, ...more) =>
  setTimeout(delayMs === hourMs || delayMs === minuteMs ? 100 : delayMs, ...more)
syncBuiltinESMExports()
