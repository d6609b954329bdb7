import { resolve } from 'node:path'
import { Access, type AccessContext, buildNetwork } from './build-access.ts'
import { parseDuration } from './duration.ts'
import { checked, isTrue, parseSize } from './leaves.ts'
import type { PullConfig, S3Source, SftpSource, UrlSource } from './model.ts'
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
    source: buildSource(input, path, context),
    bytesMax: checked(parseSize(input.maxBytes)),
    silenceMs: checked(parseDuration(input.timeout)),
    totalMs: checked(parseDuration(input.atMost)),
  }
}

function buildSource(input: PullInput, path: ConfigPath, context: AccessContext): PullConfig['source'] {
  if (input.s3 !== undefined) return buildS3(input, path, context)
  return input.sftp === undefined ? buildUrl(input, path, context) : buildSftp(input, path, context)
}

function buildS3(input: PullInput, path: ConfigPath, context: AccessContext): S3Source {
  const s3 = checked(input.s3)
  const access = new Access(context, [...path, 's3'])
  const { bucket, prefix, endpoint, region, pathStyle, accessKeyId, sessionToken } = s3
  return {
    kind: 's3',
    bucket: access.text('bucket', bucket),
    prefix: prefix ?? '',
    endpoint: endpoint ? access.url(endpoint, 'endpoint') : undefined,
    region,
    pathStyle: pathStyle === undefined ? Boolean(endpoint) : isTrue(pathStyle),
    credentials:
      accessKeyId === undefined
        ? undefined
        : {
            accessKeyId: access.text('accessKeyId', accessKeyId),
            secretAccessKey: access.token('secretAccessKey', s3.secretAccessKey, s3.secretAccessKeyFile),
            sessionToken: sessionToken ? access.text('sessionToken', sessionToken) : undefined,
          },
    network: buildNetwork(input, path, context),
    after: input.after ?? 'keep',
    moveTo: input.moveTo,
  }
}

function buildUrl(input: PullInput, path: ConfigPath, context: AccessContext): UrlSource {
  const access = new Access(context, path)
  const { user, allowPrivate, name } = input
  return {
    kind: 'url',
    url: access.url(input.url),
    headers: access.headers(input.headers),
    credentials:
      user === undefined
        ? undefined
        : {
            user: access.text('user', user),
            password: access.token('password', input.password, input.passwordFile),
          },
    allowPrivate: isTrue(allowPrivate),
    network: buildNetwork(input, path, context),
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
