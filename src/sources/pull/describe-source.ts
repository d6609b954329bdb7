import type { Deferred, PullConfig } from '../../config/model.ts'

/** Where files are fetched, fit to be shown: without query and credentials. */
export function describeSource(source: PullConfig['source']): string {
  if (source.kind === 'url')
    return source.url.available ? describeUrl(source.url.value()) : 'a URL that is not set'
  if (source.kind === 's3')
    return `s3://${source.bucket.available ? source.bucket.value() : 'a bucket that is not set'}/${source.prefix}`
  const { host, port, folder } = source
  const place = host.available ? host.value() : 'a host that is not set'
  return `sftp://${place}${port === 22 ? '' : `:${port}`}/${folder.replace(/^\.?\/+|^\.$/, '')}`
}

/** Shops put keys into the query. */
export function describeUrl({ origin, pathname }: URL): string {
  return origin + pathname
}

/** What tells one place from another. */
export function placeOf(source: PullConfig['source']): string {
  if (source.kind === 'url') return source.url.value().href
  if (source.kind === 's3')
    return ['s3', source.endpoint?.value().href, source.bucket.value(), source.prefix].join('\n')
  return ['sftp', source.host.value(), source.port, source.user.value(), source.folder].join('\n')
}

/** What it is made of that may not be set. */
export function accessOf(source: PullConfig['source']): Deferred<unknown>[] {
  const parts: (Deferred<unknown> | undefined)[] =
    source.kind === 'url'
      ? [source.url, ...Object.values(source.credentials ?? {}), ...source.headers.map(({ value }) => value)]
      : source.kind === 's3'
        ? [source.bucket, source.endpoint, ...Object.values(source.credentials ?? {})]
        : [source.host, source.user, source.password]
  return parts.filter((part) => part !== undefined)
}

export function describeSchedule({ schedule }: PullConfig): string {
  if (schedule.kind === 'cron') return `at ${schedule.pattern} (${schedule.zone})`
  const { everyMs } = schedule
  const [unitMs, unit] = (
    [
      [3_600_000, 'h'],
      [60_000, 'm'],
    ] as const
  ).find(([ms]) => everyMs % ms === 0) ?? [1000, 's']
  return `every ${everyMs / unitMs}${unit}`
}
