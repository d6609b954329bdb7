import {
  type Attributes,
  context,
  type Link,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import type { TracesConfig } from '../config/model.ts'
import type { CallMade } from '../delivery/context.ts'
import type { ImportReport } from '../imports/report.ts'
import type { Log } from '../lib/log.ts'
import { redactText } from '../lib/redact.ts'
import { readVersion } from '../lib/version.ts'
import type { AcceptLine } from '../sources/model.ts'
import type { CatalogTrace, FileShare } from './catalog-meter.ts'

const exportWithinMs = 5_000
/** Files whose changes are not all acknowledged; beyond them the oldest is told as it stands. */
const openFilesMax = 200

export interface Traces extends AsyncDisposable {
  of(catalog: string): CatalogTrace
}

/** Sends spans over OTLP/HTTP in the background; where nobody takes them they are dropped, and that is logged once. */
export function openTraces(config: TracesConfig, log: Log): Traces {
  const exporter = new OTLPTraceExporter({
    url: config.url.value().href,
    headers: Object.fromEntries(config.headers.map(({ name, value }) => [name, value.value()])),
    timeoutMillis: exportWithinMs,
  })
  const attributes = { 'service.name': 'catalogd', 'service.version': readVersion() }
  const provider = new TracerProvider({
    resource: resourceFromAttributes(attributes),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: toldExporter(exporter, { origin: config.url.value().origin, log }),
        exportTimeoutMillis: exportWithinMs,
      }),
    ],
  })
  const tracer = provider.getTracer('catalogd')
  const catalogs: FileTraces[] = []
  return {
    of(catalog) {
      const traces = new FileTraces(catalog, (name, options, parent) =>
        tracer.startSpan(name, options, parent ? trace.setSpan(context.active(), parent) : context.active()),
      )
      catalogs.push(traces)
      return traces
    },
    async [Symbol.asyncDispose]() {
      for (const traces of catalogs) traces.end()
      // What fails was logged.
      await provider.shutdown().catch(() => undefined)
    },
  }
}

/** Logs when spans are not taken any more, and when they are again. */
function toldExporter(
  exporter: OTLPTraceExporter,
  { origin, log }: { origin: string; log: Log },
): SpanExporter {
  let isFailing = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined
        if (hasFailed && !isFailing) {
          const reason = redactText(result.error?.message ?? '')
          log.warn({ origin, reason }, 'traces cannot be sent, and are dropped; check traces.url')
        }
        if (!hasFailed && isFailing) log.info({ origin }, 'traces are sent again')
        isFailing = hasFailed
        done(result)
      })
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
}

interface SpanOptions {
  startTime: number
  attributes: Attributes
  kind?: SpanKind
  links?: Link[]
}

type StartSpan = (name: string, options: SpanOptions, parent?: Span) => Span

interface OpenFile {
  span: Span
  /** Changed products that were not acknowledged yet; undefined while the import runs. */
  missing: number | undefined
  acknowledged: number
}

/**
 * The way of each file of one catalog as one trace: `file` from its acceptance to the last acknowledgement, and in it
 * `accept` (until its import begins), `import`, and every `call` with products of it. A call with products of several files
 * stands in the trace of which it carries most, with links to the others.
 */
class FileTraces implements CatalogTrace {
  readonly #catalog: string
  readonly #start: StartSpan
  readonly #open = new Map<number, OpenFile>()

  constructor(catalog: string, start: StartSpan) {
    this.#catalog = catalog
    this.#start = start
  }

  applying(accept: AcceptLine): void {
    this.#fileOf(accept)
  }

  imported(
    { finishedAt, seconds, outcome, records, rejected, changes }: ImportReport,
    accept: AcceptLine,
  ): void {
    const file = this.#fileOf(accept)
    const endedMs = Date.parse(finishedAt)
    const beganMs = Math.max(Date.parse(accept.acceptedAt), endedMs - seconds * 1_000)
    this.#start('accept', { startTime: Date.parse(accept.acceptedAt), attributes: {} }, file.span).end(
      beganMs,
    )
    const attributes = { ...this.#attributes({ outcome, records, rejected }) }
    const span = this.#start('import', { startTime: beganMs, attributes }, file.span)
    if (outcome === 'refused') span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(endedMs)
    file.span.setAttributes(attributes)
    file.missing = changes.urgent + changes.new + changes.deferred - file.acknowledged
    if (file.missing <= 0) this.#end(accept.sequence, endedMs)
  }

  called(
    { outcome, status, products, bodyBytes, durationMs }: CallMade,
    shares: readonly FileShare[],
    nowMs: number,
  ): void {
    const [first, ...others] = shares.toSorted((one, other) => other.products - one.products)
    const spanOf = (share: FileShare | undefined) => share && this.#open.get(share.sequence)?.span
    const links = others.flatMap((share) => {
      const span = spanOf(share)
      return span ? [{ context: span.spanContext() }] : []
    })
    const attributes = {
      ...this.#attributes({ outcome, products: products.length, bytes: bodyBytes }),
      ...(status === undefined ? {} : { 'http.response.status_code': status }),
    }
    const options = { startTime: nowMs - durationMs, attributes, kind: SpanKind.CLIENT, links }
    const span = this.#start('call', options, spanOf(first))
    if (outcome !== 'acknowledge') span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(nowMs)
  }

  settled(shares: readonly FileShare[], nowMs: number): void {
    for (const { sequence, products } of shares) {
      const file = this.#open.get(sequence)
      if (!file) continue
      file.acknowledged += products
      if (file.missing === undefined) continue
      file.missing -= products
      if (file.missing <= 0) this.#end(sequence, nowMs)
    }
  }

  /** All as they stand. */
  end(): void {
    for (const sequence of [...this.#open.keys()]) this.#end(sequence, undefined)
  }

  #fileOf({ sequence, acceptedAt, feed, mode, bytes }: AcceptLine): OpenFile {
    const known = this.#open.get(sequence)
    if (known) return known
    const attributes = this.#attributes({ feed, import: sequence, mode, bytes })
    const span = this.#start('file', { startTime: Date.parse(acceptedAt), attributes })
    const file = { span, missing: undefined, acknowledged: 0 }
    this.#open.set(sequence, file)
    const [oldest] = this.#open.keys()
    if (this.#open.size > openFilesMax && oldest !== undefined) this.#end(oldest, undefined)
    return file
  }

  #end(sequence: number, atMs: number | undefined): void {
    this.#open.get(sequence)?.span.end(atMs)
    this.#open.delete(sequence)
  }

  #attributes(values: Record<string, string | number>): Attributes {
    const own = Object.entries({ catalog: this.#catalog, ...values })
    return Object.fromEntries(own.map(([name, value]) => [`catalogd.${name}`, value]))
  }
}
