import type { Clock } from '../../lib/clock.ts'
import { describeError } from '../../lib/errors.ts'
import { settlesWithin } from '../../lib/settles-within.ts'
import type { PartFile } from './part-file.ts'
import { PullError } from './pull-error.ts'
import type { RemoteFile } from './pull-state.ts'
import type { RemoteFolder } from './remote-folder.ts'
import { connectSftp, type SftpConnection } from './sftp-connect.ts'

interface Opening {
  source: Parameters<typeof connectSftp>[0]['source']
  silenceMs: number
  clock: Clock
  signal: AbortSignal
}

const endWithinMs = 2_000
const readBytes = 256 * 1024

/**
 * The folder of one SFTP server. Silence, and the signal, end the connection; then whatever is waited for fails. Every
 * failure is a PullError.
 */
export class SftpSession implements RemoteFolder {
  readonly #connection: SftpConnection
  readonly #options: Opening
  readonly #onAbort = () => void this.#connection.socket.destroy()

  private constructor(connection: SftpConnection, options: Opening) {
    this.#connection = connection
    this.#options = options
    options.signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  static async open(options: Opening): Promise<SftpSession> {
    return new SftpSession(await connectSftp(options), options)
  }

  /** Names with a slash would lead elsewhere. */
  list(): Promise<RemoteFile[]> {
    const { folder } = this.#options.source
    return this.#do(`list ${folder}`, async ({ client }) => {
      const entries = await client.list(folder)
      return entries
        .filter(({ type, name }) => type === '-' && !name.includes('/'))
        .map(({ name, size, modifyTime }) => ({ name, bytes: size, modifiedMs: modifyTime }))
    })
  }

  look(name: string): Promise<RemoteFile | undefined> {
    const path = this.#pathOf(name)
    return this.#do(`look at ${path}`, async ({ client }) => {
      if (!(await client.exists(path))) return undefined
      const { size, modifyTime } = await client.stat(path)
      return { name, bytes: size, modifiedMs: modifyTime }
    })
  }

  download({ name }: RemoteFile, part: PartFile): Promise<void> {
    const path = this.#pathOf(name)
    return this.#do(`read ${path}`, async ({ client }) => {
      const stream = client.createReadStream(path, { highWaterMark: readBytes })
      await part.append(stream, this.#options.signal)
    })
  }

  delete(name: string): Promise<void> {
    const path = this.#pathOf(name)
    return this.#do(`delete ${path}`, async ({ client }) => void (await client.delete(path, true)))
  }

  /** Into a folder relative to the listed one, which is made. `otherName` where the name is taken there. */
  move(name: string, { to, otherName }: { to: string; otherName: string }): Promise<void> {
    const path = this.#pathOf(name)
    const folder = to.startsWith('/') ? to : this.#pathOf(to)
    return this.#do(`move ${path} to ${folder}`, async ({ client }) => {
      if (!(await client.exists(folder))) await client.mkdir(folder, true)
      const isTaken = await client.exists(`${folder}/${name}`)
      await client.rename(path, `${folder}/${isTaken ? otherName : name}`)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { client, socket } = this.#connection
    const { signal, clock } = this.#options
    signal.removeEventListener('abort', this.#onAbort)
    if (!socket.destroyed) {
      const ended = client.end().catch(() => {})
      await settlesWithin(clock, endWithinMs, ended)
    }
    socket.destroy()
  }

  #pathOf(name: string): string {
    return `${this.#options.source.folder.replace(/(?<=.)\/+$/, '')}/${name}`
  }

  async #do<T>(what: string, step: (connection: SftpConnection) => Promise<T>): Promise<T> {
    const { source, silenceMs, signal } = this.#options
    const { socket } = this.#connection
    let isSilent = false
    const onSilence = () => {
      isSilent = true
      socket.destroy()
    }
    signal.throwIfAborted()
    const closed = Promise.withResolvers<never>()
    const onClose = () => closed.reject(new Error(isSilent ? 'it is silent' : 'the connection has ended'))
    closed.promise.catch(() => {})
    socket.setTimeout(silenceMs, onSilence)
    socket.once('close', onClose)
    if (socket.destroyed) onClose()
    try {
      return await Promise.race([step(this.#connection), closed.promise])
    } catch (cause) {
      signal.throwIfAborted()
      if (cause instanceof PullError) throw cause
      throw new PullError('sftp', `cannot ${what} at ${source.host.value()}: ${describeError(cause)}`, {
        hint: 'Correct folder, or the rights of the user there',
        cause,
      })
    } finally {
      socket.setTimeout(0)
      socket.off('timeout', onSilence)
      socket.off('close', onClose)
    }
  }
}
