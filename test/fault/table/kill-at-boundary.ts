import { DatabaseSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'
import { MirrorStore } from '../../../src/mirror/store.ts'
import { OutboxScripts } from '../../../src/outbox/scripts/scripts.ts'
import { Manifest } from '../../../src/sources/manifest.ts'

// Loaded before the daemon, in each of its threads: kills the process, without a chance to do anything, right before or
// after the n-th step of a kind. KILL_BOUNDARY is `<kind> <before|after> <n>`; a kind is a transaction of the mirror's
// writer (`import`: with products of a file, `commit`: any other), `manifest` (lines), or a script of the outbox.

const [kind, side, nth] = (process.env.KILL_BOUNDARY ?? '').split(' ')
let seen = 0

function pass(at: 'before' | 'after', name: string): void {
  if (name !== kind || at !== side) return
  seen += 1
  if (seen === Number(nth)) process.kill(process.pid, 'SIGKILL')
}

async function around<T>(name: string, work: () => Promise<T>): Promise<T> {
  pass('before', name)
  const result = await work()
  pass('after', name)
  return result
}

let transaction = 'commit'
const { commit } = MirrorStore.prototype
MirrorStore.prototype.commit = function (next, nowMs) {
  transaction = 'import'
  try {
    commit.call(this, next, nowMs)
  } finally {
    transaction = 'commit'
  }
}

const { exec } = DatabaseSync.prototype
DatabaseSync.prototype.exec = function (sql) {
  const isCommit = sql === 'COMMIT' && !isMainThread
  if (isCommit) pass('before', transaction)
  exec.call(this, sql)
  if (isCommit) pass('after', transaction)
}

const { run, append } = OutboxScripts.prototype
const wrapped = new WeakSet<object>()
OutboxScripts.prototype.run = function (connection, name, call) {
  return around(name, () => run.call(this, connection, name, call))
}
OutboxScripts.prototype.append = function (batch, name, call) {
  const result = append.call(this, batch, name, call)
  const { exec } = batch
  if (!wrapped.has(batch)) batch.exec = () => around(name, () => exec.call(batch) as Promise<never>)
  wrapped.add(batch)
  return result
}

const { append: appendLines } = Manifest.prototype
Manifest.prototype.append = function (lines) {
  return around('manifest', () => appendLines.call(this, lines))
}
