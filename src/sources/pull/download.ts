import type { Clock } from '../../lib/clock.ts'
import { systemErrorCode } from '../../lib/errors.ts'
import { parseRetryAfter } from '../../lib/retry-after.ts'
import { isFull } from '../space.ts'
import { describeUrl } from './describe-source.ts'
import type { HttpAnswer } from './http-get.ts'
import type { PartFile } from './part-file.ts'
import { PullError } from './pull-error.ts'

interface DownloadOptions {
  get: (headers: Readonly<Record<string, string>>) => Promise<HttpAnswer>
  part: PartFile
  /** Of the version that is known already. */
  known: Validators | undefined
  clock: Clock
  signal: AbortSignal
}

export type Downloaded =
  | { kind: 'unchanged' }
  /** The part is whole. */
  | { kind: 'whole'; validators: Validators; headers: Readonly<Record<string, string>>; url: URL }

/** What is known of the version that the part began with. */
interface Version {
  strong: string | undefined
  total: number | undefined
  whole: Extract<Downloaded, { kind: 'whole' }>
}

type Step = Downloaded | 'go-on' | 'begin-again'

/** Connections in a row that bring nothing. */
const failuresMax = 5
/** A file that changes faster than it can be fetched. */
const beginningsMax = 5
const pauseMs = 500
/** An answer that ends early and brought less than this is followed by a pause, each longer than the one before. */
const worthwhileBytes = 65_536
const pausesDoubledMax = 5
const encodings: ReadonlySet<string> = new Set(['', 'identity', 'gzip', 'x-gzip', 'zstd'])

/**
 * Fetches one version of a file whole. asking → receiving → (the connection ends early) → asking for the rest of the same
 * version (`Range` with `If-Range`) → receiving …; when the server has another version by then, or cannot go on, the part
 * begins again. The length is what the server announced, or the end of the answer where it announced none.
 */
export async function download(options: DownloadOptions): Promise<Downloaded> {
  const { part, clock, signal } = options
  const run: Run = { ...options, version: undefined, isPlain: false }
  let beginnings = 1
  let failures = 0
  for (let slowInARow = 0; ; ) {
    const before = part.bytes
    try {
      const step = await receive(run)
      if (typeof step === 'object') return step
      if (step === 'go-on' && part.bytes >= before + worthwhileBytes) continue
      if (step === 'go-on') throw littleProgress()
      run.version = undefined
      await part.beginAgain()
      if (++beginnings > beginningsMax) throw restless()
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!isPassing(error) || (part.bytes === 0 && run.version === undefined)) throw error
      failures = part.bytes > before ? 1 : failures + 1
      if (failures > failuresMax) throw dropped(part.bytes, error)
      slowInARow = part.bytes >= before + worthwhileBytes ? 1 : slowInARow + 1
      await clock.sleep(pauseAfter(slowInARow), signal)
      if (run.version?.strong === undefined) {
        run.version = undefined
        await part.beginAgain()
        if (++beginnings > beginningsMax) throw dropped(before, error)
      }
    }
  }
}

interface Run extends DownloadOptions {
  version: Version | undefined
  /** The server did not understand a condition: none is sent. */
  isPlain: boolean
}

async function receive(run: Run): Promise<Step> {
  const { get, part, known, version, signal } = run
  const isRest = version?.strong !== undefined && part.bytes > 0
  const conditions = isRest
    ? { range: `bytes=${part.bytes}-`, 'if-range': version.strong ?? '' }
    : known && !run.isPlain
      ? unlessUnchanged(known)
      : {}
  await using answer = await get(conditions)
  const { status, headers } = answer
  if (status === 304 && 'range' in conditions === false && Object.keys(conditions).length > 0)
    return { kind: 'unchanged' }
  if ((status === 412 || status === 416) && Object.keys(conditions).length > 0) {
    run.isPlain = true
    return 'begin-again'
  }
  if (status === 206 && isRest) {
    if (!isSameVersion(answer, version, part.bytes)) return 'begin-again'
    await part.append(answer.body, signal)
    return endOf(run)
  }
  if (status !== 200) throw refusalOf(answer, run.clock.now())
  checkEncoding(answer)
  await part.beginAgain()
  const whole = { kind: 'whole' as const, validators: validatorsOf(headers), headers, url: answer.url }
  run.version = { strong: strongValidator(headers), total: lengthOf(headers), whole }
  if (run.version.total !== undefined) await part.expect(run.version.total)
  await part.append(answer.body, signal)
  return endOf(run)
}

/** The answer has ended in good order; that it is the whole file is for its announced length to say. */
function endOf({ version, part }: Run): Step {
  if (version === undefined) throw new Error('a part without a version')
  if (version.total === undefined || part.bytes === version.total) return version.whole
  return part.bytes < version.total && version.strong !== undefined ? 'go-on' : 'begin-again'
}

/** Some servers send a part whatever `If-Range` says: what the part shows of its version counts. */
function isSameVersion({ headers }: HttpAnswer, { total, whole }: Version, from: number): boolean {
  const range = parseContentRange(headers['content-range'])
  if (range?.from !== from || (headers['content-encoding'] ?? 'identity') !== 'identity') return false
  if (total !== undefined && range.total !== undefined && range.total !== total) return false
  const [first, now] = [whole.validators, validatorsOf(headers)]
  if (first.etag !== undefined && now.etag !== undefined) return now.etag === first.etag
  return now.lastModified === undefined || now.lastModified === first.lastModified
}

/** Bytes are kept as they come: a reader of feed files knows these by their first bytes. */
function checkEncoding({ headers, url }: HttpAnswer): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encodings.has(encoding)) return
  throw new PullError('encoding', `${describeUrl(url)} sends content-encoding ${encoding} unasked`, {
    hint: 'Let the server send the file as it is, or as gzip',
  })
}

/** Undefined: the length shows at the end only. */
function lengthOf(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['content-length']
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** The connection may fare better next time; everything else is settled. */
function isPassing(error: unknown): boolean {
  if (error instanceof PullError) return error.code === 'no-answer' || error.code === 'server-busy'
  return systemErrorCode(error) !== undefined && !isFull(error)
}

function dropped(bytes: number, cause: unknown): PullError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new PullError(
    'dropped',
    `the connection broke again and again, the last time after ${bytes} bytes: ${reason}`,
    {
      hint: 'Look at the server and the way to it; timeout says how long it may be silent',
      cause,
    },
  )
}

/** Doubles, with jitter, so that many feeds do not ask one server at the same times. */
function pauseAfter(slowInARow: number): number {
  const boundMs = pauseMs * 2 ** Math.min(slowInARow - 1, pausesDoubledMax)
  return Math.ceil((boundMs * (1 + Math.random())) / 2)
}

function littleProgress(): PullError {
  return new PullError('no-answer', 'the server sends few or none of the bytes that are asked for', {
    hint: 'Look at the server: it announces more than it sends',
  })
}

function restless(): PullError {
  return new PullError('restless', 'the file changes faster than it can be fetched', {
    hint: 'Let the server write it under another name and rename it, or keep it longer',
  })
}

const busy: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** For an answer that brings no file. */
function refusalOf(
  { status, headers, url }: Pick<HttpAnswer, 'status' | 'headers' | 'url'>,
  now: number,
): PullError {
  const isBusy = busy.has(status)
  return new PullError(isBusy ? 'server-busy' : 'refused', `${describeUrl(url)} answers ${status}`, {
    hint: hintOf(status, isBusy),
    retryAfterMs: isBusy ? parseRetryAfter(headers['retry-after'], now) : undefined,
  })
}

function hintOf(status: number, isBusy: boolean): string {
  if (status === 401 || status === 403) return 'Correct user and password, or headers, beside url'
  if (status === 404 || status === 410) return 'Correct url: there is no file any more'
  if (status === 429) return 'It is asked too often: raise every'
  return isBusy
    ? 'It is tried again; if it stays so, ask whoever runs the server'
    : 'Expected 200: correct url'
}

/** By which a server knows a version of a file again. */
interface Validators {
  etag?: string | undefined
  lastModified?: string | undefined
}

function validatorsOf(headers: Readonly<Record<string, string>>): Validators {
  return { etag: headers.etag, lastModified: headers['last-modified'] }
}

/** Headers that ask for the file only if it is another version. */
function unlessUnchanged({ etag, lastModified }: Validators): Record<string, string> {
  return {
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
  }
}

/**
 * What says that two parts are of one version, byte for byte; undefined: nothing does. A time of change is good enough
 * only when the answer was made later than in the same second (RFC 9110, 8.8.2.2).
 */
function strongValidator(headers: Readonly<Record<string, string>>): string | undefined {
  const { etag, date, 'last-modified': lastModified } = headers
  if (etag !== undefined) return etag.startsWith('W/') ? undefined : etag
  if (lastModified === undefined || date === undefined) return undefined
  return Date.parse(date) - Date.parse(lastModified) >= 1000 ? lastModified : undefined
}

/** `bytes 100-199/200`; undefined when it is none. `total` undefined: `*`. */
function parseContentRange(
  text: string | undefined,
): { from: number; total: number | undefined } | undefined {
  const [, from, , total] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(text?.trim() ?? '') ?? []
  if (from === undefined) return undefined
  return { from: Number(from), total: total === '*' ? undefined : Number(total) }
}
