import { isIP } from 'node:net'

export interface ListenAddress {
  /** Without the brackets of an IPv6 address. */
  host: string
  /** 0: any free port. */
  port: number
}

const form = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<host>[a-z0-9.-]+)):(?<port>\d{1,5})$/i

/** `127.0.0.1:8480`, `[::1]:8480`, `localhost:8480`; undefined when it is none. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const { v6, host, port = '' } = form.exec(text.trim())?.groups ?? {}
  const name = v6 ?? host
  if (name === undefined || Number(port) > 65_535 || (v6 !== undefined && isIP(v6) !== 6)) return undefined
  return { host: name, port: Number(port) }
}

/** Whether only this machine can reach a host of this name. */
export function isThisMachine(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}
