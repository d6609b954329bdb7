import { resolve } from 'node:path'
import { Access, type AccessContext } from './build-access.ts'
import { checked, isTrue, parseDuration, parseSize } from './leaves.ts'
import type { PullConfig, SftpSource, UrlSource } from './model.ts'
import type { ConfigPath } from './problems.ts'
import type { PullInput } from './pull-schema.ts'

/** Where and when files of a feed are fetched, from a part that has passed every check. `path` ends with `pull`. */
export function buildPull(input: PullInput, path: ConfigPath, context: AccessContext): PullConfig {
  const { every, cron, zone } = input
  return {
    schedule:
      cron === undefined
        ? { kind: 'every', everyMs: checked(parseDuration(every)) }
        : { kind: 'cron', pattern: cron.trim(), zone: zone ?? 'UTC' },
    source: input.sftp === undefined ? buildUrl(input, path, context) : buildSftp(input, path, context),
    bytesMax: checked(parseSize(input.maxBytes)),
    silenceMs: checked(parseDuration(input.timeout)),
    totalMs: checked(parseDuration(input.atMost)),
  }
}

function buildUrl(input: PullInput, path: ConfigPath, context: AccessContext): UrlSource {
  const access = new Access(context, path)
  const ofHeaders = new Access(context, [...path, 'headers'])
  const { user, caFile, allowPrivate, name } = input
  return {
    kind: 'url',
    url: access.url(input.url),
    headers: Object.entries(input.headers ?? {}).map(([header, value]) => ({
      name: header,
      value: ofHeaders.text(header, value),
    })),
    credentials:
      user === undefined
        ? undefined
        : {
            user: access.text('user', user),
            password: access.token('password', input.password, input.passwordFile),
          },
    allowPrivate: isTrue(allowPrivate),
    caFile: caFile === undefined ? undefined : resolve(context.folder, caFile),
    name,
  }
}

function buildSftp(input: PullInput, path: ConfigPath, context: AccessContext): SftpSource {
  const sftp = checked(input.sftp)
  const access = new Access(context, [...path, 'sftp'])
  const { password, passwordFile, privateKeyFile, passphrase, hostKey, knownHosts } = sftp
  const hasPassword = password !== undefined || passwordFile !== undefined
  return {
    kind: 'sftp',
    host: access.text('host', sftp.host),
    port: Number(sftp.port),
    user: access.text('user', sftp.user),
    password: hasPassword ? access.token('password', password, passwordFile) : undefined,
    privateKeyFile: privateKeyFile === undefined ? undefined : resolve(context.folder, privateKeyFile),
    passphrase: passphrase === undefined ? undefined : access.text('passphrase', passphrase),
    hostKeys: [hostKey ?? []].flat(),
    knownHostsFile: knownHosts === undefined ? undefined : resolve(context.folder, knownHosts),
    folder: sftp.folder,
    after: input.after ?? 'keep',
    moveTo: input.moveTo,
  }
}
