import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { TempDir } from '../../support/temp-dir.ts'

/** A key and a certificate for a name, which is its own authority. */
export async function makeCertificate(dir: TempDir, name: string) {
  const [key, caFile] = [dir.join('key.pem'), dir.join('cert.pem')]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  execFileSync('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', caFile], { stdio: 'ignore' })
  return { caFile, tls: { key: await readFile(key, 'utf8'), cert: await readFile(caFile, 'utf8') } }
}
