import type { PullConfig } from '../../config/model.ts'

/** Where files are fetched, fit to be shown: without query and credentials. */
export function describeSource(source: PullConfig['source']): string {
  if (source.kind === 'url')
    return source.url.available ? describeUrl(source.url.value()) : 'a URL that is not set'
  const { host, port, folder } = source
  const place = host.available ? host.value() : 'a host that is not set'
  return `sftp://${place}${port === 22 ? '' : `:${port}`}/${folder.replace(/^\.?\/+|^\.$/, '')}`
}

/** Shops put keys into the query. */
export function describeUrl({ origin, pathname }: URL): string {
  return origin + pathname
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
