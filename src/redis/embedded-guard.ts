import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { programFile } from '../lib/program-file.ts'

/** Long enough for a supervisor to start a killed process again, which then goes on with the same server. */
const graceSeconds = 10

/** Waits for a word; when the pipe closes without one, whoever held it was killed. A shell, because it is small. */
const script = 'read -r word && exit; sleep "$1"; shift; exec "$@"'

/** A process that outlives this one for a moment. */
export interface EmbeddedGuard {
  /** This process has let go of the server, and found nothing left to do. */
  dismiss(): void
  /** As if this process had been killed. */
  leave(): void
}

/**
 * Sees to it that the embedded server does not outlive its last user, however that ends: kill -9 leaves a process no time
 * to end what it started. In a session of its own, so that neither Ctrl-C nor the end of a terminal reaches it.
 */
export function startGuard(dir: string): EmbeddedGuard {
  const program = fileURLToPath(programFile('./end-unused.ts', import.meta.url))
  const guard = spawn(
    '/bin/sh',
    ['-c', script, 'catalogd-guard', `${graceSeconds}`, process.execPath, program, dir],
    {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  )
  guard.unref()
  // Without a shell, or when somebody ended it, an orphan is left to the next command.
  guard.on('error', () => undefined)
  guard.stdin.on('error', () => undefined)
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref()
  return {
    dismiss: () => void guard.stdin.end('dismissed\n'),
    leave: () => void guard.stdin.end(),
  }
}
