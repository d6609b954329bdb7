import { readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { makeFolder, removeIfPresent } from '../lib/durable.ts'
import { describeError, ifPresent, isOperatingFailure, SourceError } from '../lib/errors.ts'
import { type ClaimParts, parseClaimFileName } from './claim-name.ts'
import { EventKeeper } from './event-keeper.ts'
import { describeFolderError } from './folder-access.ts'
import { scanFolder } from './folder-scan.ts'
import { requestOf } from './inbox.ts'
import { Loop } from './loop.ts'
import { type DecisionLine, decisionSchema } from './model.ts'
import { isFull } from './space.ts'
import type { AcceptingParts, Upkeep } from './upkeep.ts'

interface InboxOptions extends AcceptingParts {
  inboxDir: string
  /** Where decisions that are none are put. */
  failedDir: string
  upkeep: Upkeep
  onDecision: (decision: DecisionLine) => void
}

type Entry = { id: string; path: string } & ({ kind: 'file'; parts: ClaimParts } | { kind: 'decision' })

const entriesMax = 1000
/** Copies and decisions whose writer was killed. */
const temporaryAgeMsMax = 24 * 3_600_000

/** Accepts what other commands put into the inbox, in the order in which they did, until it is disposed. */
export class InboxWatcher implements AsyncDisposable {
  readonly #options: InboxOptions
  readonly #loop: Loop
  readonly #events: EventKeeper

  constructor(options: InboxOptions) {
    this.#options = options
    this.#loop = new Loop(options.clock, () => this.#tryPass())
    const { inboxDir, notices, log } = options
    const onEvent = (raw: string | undefined) => {
      if (!raw?.startsWith('.')) this.#loop.wake()
    }
    this.#events = new EventKeeper({ dir: inboxDir, place: 'inbox', notices, log, onEvent })
    this.#loop.start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]()
    await this.#events[Symbol.asyncDispose]()
  }

  async #tryPass(): Promise<number> {
    const { notices, inboxDir, rescanMs } = this.#options
    try {
      await this.#pass()
      notices.clear('drop:inbox', '')
      notices.clear('disk', 'inbox')
    } catch (error) {
      if (!isOperatingFailure(error)) throw error
      if (isFull(error)) notices.raise('disk', 'inbox', describeError(error))
      else notices.raise('drop:inbox', '', describeFolderError(inboxDir, error))
    }
    return rescanMs
  }

  async #pass(): Promise<void> {
    await makeFolder(this.#options.inboxDir)
    await this.#events.refresh()
    const entries = await this.#scan()
    // Runs of files share a sync of the manifest; a decision keeps its place between them.
    for (let from = 0; from < entries.length && !this.#loop.isStopping; ) {
      const entry = entries[from]
      if (entry?.kind === 'decision') {
        await this.#takeDecision(entry)
        from++
        continue
      }
      const until = entries.findIndex(({ kind }, position) => position > from && kind === 'decision')
      const files = entries
        .slice(from, until < 0 ? entries.length : until)
        .filter((file) => file.kind === 'file')
      await this.#takeFiles(files)
      from += files.length
    }
    if (entries.length >= entriesMax) this.#loop.wake()
  }

  async #scan(): Promise<Entry[]> {
    const { inboxDir, clock } = this.#options
    const entries: Entry[] = []
    for await (const { raw, kind } of scanFolder(inboxDir)) {
      if (kind !== 'file') continue
      const fileName = Buffer.from(raw, 'latin1').toString('utf8')
      const path = join(inboxDir, fileName)
      const request = requestOf(fileName)
      const parts = parseClaimFileName(fileName)
      if (request) entries.push({ kind: 'decision', id: request, path })
      else if (parts) entries.push({ kind: 'file', id: parts.claim, path, parts })
      else if (fileName.startsWith('.')) await removeIfOld(path, clock)
    }
    return entries.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, entriesMax)
  }

  async #takeFiles(files: readonly { path: string; parts: ClaimParts }[]): Promise<void> {
    await this.#options.upkeep.completeClaims()
    const accepted = await this.#options.acceptor.acceptClaimed(files)
    if (accepted.length > 0) this.#options.onAccepted(accepted)
  }

  async #takeDecision({ id, path }: { id: string; path: string }): Promise<void> {
    const { acceptor, clock, log, onDecision } = this.#options
    const decision = await parseDecision(path)
    if (decision instanceof SourceError) {
      log.warn({ err: decision }, 'a decision in the inbox was set aside')
      await makeFolder(this.#options.failedDir)
      await rename(path, join(this.#options.failedDir, `${id}.decision.json`))
      return
    }
    const at = new Date(clock.now()).toISOString()
    const written = await acceptor.manifest.append([{ kind: 'decision', request: id, at, ...decision }])
    // After a crash the line stands already, and the file goes.
    await removeIfPresent(path)
    for (const line of written) if (line.kind === 'decision') onDecision(line)
  }
}

async function parseDecision(path: string) {
  const text = await readFile(path, 'utf8')
  try {
    return decisionSchema.parse(JSON.parse(text))
  } catch (cause) {
    return new SourceError('decision-unreadable', `${path} is no decision`, { cause })
  }
}

async function removeIfOld(path: string, clock: Clock): Promise<void> {
  // What is written just now has its own name by then.
  const stats = await ifPresent(stat(path))
  if (stats && clock.now() - stats.mtimeMs > temporaryAgeMsMax) await removeIfPresent(path)
}
