import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import type { S3Source } from '../../config/model.ts'
import { describeError } from '../../lib/errors.ts'
import { proxyFor, readCertificates } from '../../lib/network.ts'
import type { PartFile } from './part-file.ts'
import { PullError } from './pull-error.ts'
import type { RemoteFile } from './pull-state.ts'
import type { RemoteFolder } from './remote-folder.ts'

interface Opening {
  source: S3Source
  silenceMs: number
  signal: AbortSignal
}

const connectMsMax = 10_000
/** Connections in a row that bring nothing of an object. */
const failuresMax = 3

type Sdk = typeof import('@aws-sdk/client-s3')

/** The objects of one bucket below a prefix, as a folder. Every failure is a PullError. */
export class S3Session implements RemoteFolder {
  readonly #sdk: Sdk
  readonly #client: S3Client
  readonly #options: Opening

  private constructor(sdk: Sdk, options: Opening) {
    const { source, silenceMs } = options
    const { region, pathStyle, endpoint, credentials } = source
    this.#sdk = sdk
    this.#options = options
    this.#client = new sdk.S3Client({
      region,
      forcePathStyle: pathStyle,
      ...(endpoint ? { endpoint: endpoint.value().href } : {}),
      ...(credentials
        ? {
            credentials: {
              accessKeyId: credentials.accessKeyId.value(),
              secretAccessKey: credentials.secretAccessKey.value(),
              ...(credentials.sessionToken ? { sessionToken: credentials.sessionToken.value() } : {}),
            },
          }
        : {}),
      // Other stores do not know the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        ...agentsFor(source),
        connectionTimeout: Math.min(connectMsMax, silenceMs),
        socketTimeout: silenceMs,
      },
    })
  }

  /** The library is large: who fetches from no bucket does without it. */
  static async open(options: Opening): Promise<S3Session> {
    return new S3Session(await import('@aws-sdk/client-s3'), options)
  }

  list(): Promise<RemoteFile[]> {
    const { prefix } = this.#options.source
    return this.#do('list its objects', async (common) => {
      const found: RemoteFile[] = []
      const pages = this.#sdk.paginateListObjectsV2(
        { client: this.#client },
        { Bucket: common.Bucket, Prefix: prefix, Delimiter: '/' },
        { abortSignal: common.signal },
      )
      for await (const { Contents = [] } of pages) {
        for (const { Key = '', Size = 0, LastModified, ETag } of Contents) {
          // A store that knows no delimiter lists what lies deeper, too; some mark folders by empty objects.
          const name = Key.slice(prefix.length)
          if (name !== '' && !name.includes('/')) found.push(fileOf(name, { Size, LastModified, ETag }))
        }
      }
      return found
    })
  }

  look(name: string): Promise<RemoteFile | undefined> {
    return this.#do(`look at ${name}`, async ({ Bucket, signal }) => {
      const found = await this.#head({ Bucket, Key: this.#keyOf(name) }, signal)
      return found && fileOf(name, { Size: found.ContentLength, ...found })
    })
  }

  /** What a connection brought before it broke is not asked for again. */
  async download({ name, etag }: RemoteFile, part: PartFile): Promise<void> {
    for (let failures = 0; ; failures++) {
      const before = part.bytes
      try {
        return await this.#do(`read ${name}`, ({ Bucket, signal }) =>
          this.#read({ Bucket, name, etag }, part, signal),
        )
      } catch (error) {
        if (part.bytes > before) failures = 0
        if (part.bytes === 0 || failures >= failuresMax || !(error instanceof PullError)) throw error
        if (error.code !== 's3') throw error
      }
    }
  }

  delete(name: string): Promise<void> {
    return this.#do(`delete ${name}`, async ({ Bucket, signal }) => {
      const command = new this.#sdk.DeleteObjectCommand({ Bucket, Key: this.#keyOf(name) })
      await this.#client.send(command, { abortSignal: signal })
    })
  }

  /** `to`: a prefix of keys. `otherName` where the name is taken there. */
  move(name: string, { to, otherName }: { to: string; otherName: string }): Promise<void> {
    const folder = to.replace(/\/*$/, '/')
    return this.#do(`move ${name} to ${folder}`, async ({ Bucket, signal }) => {
      const isTaken = await this.#head({ Bucket, Key: folder + name }, signal)
      const CopySource = [Bucket, ...this.#keyOf(name).split('/')].map(encodeURIComponent).join('/')
      const Key = folder + (isTaken ? otherName : name)
      const copy = new this.#sdk.CopyObjectCommand({ Bucket, Key, CopySource })
      await this.#client.send(copy, { abortSignal: signal })
      const remove = new this.#sdk.DeleteObjectCommand({ Bucket, Key: this.#keyOf(name) })
      await this.#client.send(remove, { abortSignal: signal })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy()
  }

  #keyOf(name: string): string {
    return this.#options.source.prefix + name
  }

  async #read(
    { Bucket, name, etag }: { Bucket: string; name: string; etag: string | undefined },
    part: PartFile,
    abortSignal: AbortSignal,
  ): Promise<void> {
    const command = new this.#sdk.GetObjectCommand({
      Bucket,
      Key: this.#keyOf(name),
      ...(etag === undefined ? {} : { IfMatch: etag }),
      ...(part.bytes === 0 ? {} : { Range: `bytes=${part.bytes}-` }),
    })
    const { Body } = await this.#client.send(command, { abortSignal })
    if (Body) await part.append(Body as Readable, abortSignal)
  }

  async #head(object: { Bucket: string; Key: string }, abortSignal: AbortSignal) {
    try {
      return await this.#client.send(new this.#sdk.HeadObjectCommand(object), { abortSignal })
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
  }

  async #do<T>(
    what: string,
    step: (common: { Bucket: string; signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const { source, signal } = this.#options
    const Bucket = source.bucket.value()
    try {
      return await step({ Bucket, signal })
    } catch (cause) {
      signal.throwIfAborted()
      if (cause instanceof PullError) throw cause
      const name = cause instanceof Error && cause.name !== 'Error' ? `${cause.name}: ` : ''
      throw new PullError('s3', `cannot ${what} in the bucket ${Bucket}: ${name}${describeError(cause)}`, {
        hint: hintOf(cause),
        cause,
      })
    }
  }
}

/** Times of a listing and of an answer differ below a second. */
function fileOf(
  name: string,
  object: { Size?: number | undefined; LastModified?: Date | undefined; ETag?: string | undefined },
): RemoteFile {
  const modifiedMs = Math.floor((object.LastModified?.getTime() ?? 0) / 1000) * 1000
  return { name, bytes: object.Size ?? 0, modifiedMs, etag: object.ETag }
}

/** Node's agents make the tunnel through a proxy themselves. */
function agentsFor({ endpoint, region, network }: S3Source) {
  const proxy = proxyFor(endpoint?.value() ?? new URL(`https://s3.${region}.amazonaws.com`), network.proxy)
  const proxyEnv = proxy ? { HTTPS_PROXY: proxy.href, HTTP_PROXY: proxy.href } : undefined
  const options = { keepAlive: true, ...(proxyEnv ? { proxyEnv } : {}) }
  return {
    httpAgent: new HttpAgent(options),
    httpsAgent: new HttpsAgent({ ...options, ...readCertificates(network) }),
  }
}

function statusOf(error: unknown): number | undefined {
  const { $metadata } = (error ?? {}) as { $metadata?: { httpStatusCode?: number } }
  return $metadata?.httpStatusCode
}

function hintOf(error: unknown): string {
  const status = statusOf(error)
  const name = error instanceof Error ? error.name : ''
  if (name === 'NoSuchBucket') return 'Correct bucket, endpoint or pathStyle'
  if (name === 'PermanentRedirect') return 'Correct region'
  if (/credentials/i.test(name)) return 'Give accessKeyId and secretAccessKey, or let the AWS tools find them'
  if (status === 401 || status === 403)
    return 'Correct accessKeyId and secretAccessKey; listing needs s3:ListBucket, reading s3:GetObject'
  return 'Correct endpoint, or look whether this machine may connect there'
}
