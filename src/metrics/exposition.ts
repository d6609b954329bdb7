import { openMetricsContentType, Registry, type RegistryContentType } from 'prom-client'
import { families } from './families.ts'
import type { Figures } from './scrape.ts'

const openMetrics = 'application/openmetrics-text'

/** Of a scrape, in the format that its Accept header asks for: OpenMetrics, or the text format that everybody reads. */
export async function formatMetrics(
  figures: Figures,
  accept = '',
): Promise<{ contentType: string; body: string }> {
  const isOpen = qualityOf(openMetrics, accept) > qualityOf('text/plain', accept)
  // Made for one scrape: the registry of OpenMetrics changes the names of what it holds.
  const registry: Registry<RegistryContentType> = new Registry()
  if (isOpen) registry.setContentType(openMetricsContentType)
  for (const { name: given, type, help, read } of families) {
    // There the registry adds it to the samples.
    const name = isOpen ? given.replace(/_total$/, '') : given
    const values = [...read(figures)].flatMap(({ value, labels = {}, suffix = '' }) =>
      value === undefined ? [] : [{ value, labels, metricName: name + suffix }],
    )
    if (values.length === 0) continue
    registry.registerMetric({
      name,
      get: async () => ({ name, help, type, values, aggregator: 'sum' }),
    } as never)
  }
  return { contentType: registry.contentType, body: await registry.metrics() }
}

/** How much a client that accepts both wants a type: 0 where it does not name it. */
function qualityOf(type: string, accept: string): number {
  const qualities = accept.split(',').flatMap((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const given = parameters.find((parameter) => parameter.startsWith('q='))
    return name === type ? [given === undefined ? 1 : Number(given.slice(2))] : []
  })
  return Math.max(0, ...qualities.filter(Number.isFinite))
}
