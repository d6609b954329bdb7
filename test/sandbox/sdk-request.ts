import { openSandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts'
import { validBodies } from '../api/contract/facts/request.ts'
import type { RawRequest } from '../support/raw-http.ts'
import { basic, product } from './harness.ts'

export type Header = readonly [name: string, value: string]

export const open = (options: Partial<SandboxOptions> = {}) =>
  openSandbox({ port: 0, productsToken: 'products', ...options })

export const productsAuth: Header = ['Authorization', basic('products')]
export const emailAuth: Header = ['Authorization', basic('sandbox-email-token')]
export const intentAuth: Header = ['Authorization', 'Bearer sandbox-intent-token']
export const json: Header = ['Content-Type', 'application/json']
export const form: Header = ['Content-Type', 'application/x-www-form-urlencoded']
const stackQuery = 'access_token=sandbox-stack-token&stack=sandbox'
export const consent = '/api/v1/customers/consent'

export const upsert = (body: unknown, more: Partial<RawRequest> = {}): RawRequest => ({
  method: 'POST',
  target: '/v1/products/upsert',
  headers: [productsAuth, json],
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...more,
})
export const setConsent = (target: string, more: Partial<RawRequest> = {}): RawRequest => ({
  method: 'POST',
  target,
  headers: [emailAuth, ['Content-Length', '0']],
  ...more,
})
export const ask = (body: unknown, more: Partial<RawRequest> = {}): RawRequest => ({
  method: 'POST',
  target: '/api',
  headers: [intentAuth, json],
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...more,
})
export const stack = (method: string, target: string, more: Partial<RawRequest> = {}): RawRequest => ({
  method,
  target: `${target}${target.includes('?') ? '&' : '?'}${stackQuery}`,
  headers: [json],
  ...more,
})
export const multipart = (fields: readonly (readonly [string, string])[]): Partial<RawRequest> => ({
  headers: [['Content-Type', 'multipart/form-data; boundary=----WebKitFormBoundary7']],
  body: `${fields
    .map(
      ([name, value]) =>
        `------WebKitFormBoundary7\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    .join('')}------WebKitFormBoundary7--\r\n`,
})

export const pan = product('1')
export const question = validBodies['intent-request']
export const termForm = 'type=user&network=twitter&term=shop&source_user_id=4711&tags[]=1&tags[]=2&active=1'
