import type { ConfigDocument } from './document.ts'
import { isTrue } from './leaves.ts'
import { checkNetwork } from './network-schema.ts'
import { checkText, isMapping, namesAt, soundPart } from './parts.ts'
import { type ConfigPath, suggestWord } from './problems.ts'
import { type PullInput, pullSchema } from './pull-schema.ts'
import { feedShape } from './schema.ts'

const ofUrl = ['headers', 'user', 'password', 'passwordFile', 'allowPrivate', 'name'] as const
const ofNetwork = ['proxy', 'caFile', 'certFile', 'keyFile'] as const
const ofFolder = ['after', 'moveTo'] as const
type Key = (typeof ofUrl)[number] | (typeof ofNetwork)[number] | (typeof ofFolder)[number]
const sources = ['url', 'sftp', 's3'] as const
/** Keys beside a source that mean nothing there. */
const foreignTo: Readonly<Record<(typeof sources)[number], readonly Key[]>> = {
  url: ofFolder,
  sftp: [...ofUrl, ...ofNetwork],
  s3: ofUrl,
}

/** Where a feed's files come from, and how the parts of `pull` fit together. */
export function checkPull(document: ConfigDocument, path: ConfigPath): void {
  const pullPath = [...path, 'pull']
  const isPulled = document.at(pullPath) !== undefined
  if (!isPulled && document.at([...path, 'drop']) === undefined && !hasMisspelt(document, path)) {
    document.addProblem([...path, 'drop'], 'is missing, expected the folder to watch, or pull')
  }
  checkText(document, [...pullPath, 'url'], urlProblem)
  const pull = soundPart(document, pullPath, pullSchema)
  if (!isPulled || pull === undefined) return
  const problem = (key: string, message: string, at: 'key' | 'value' = 'key') =>
    document.addProblem([...pullPath, ...key.split('.')], message, at)
  const [source, ...others] = sources.filter((key) => pull[key] !== undefined)
  for (const other of others) problem(other, `found beside ${source}, expected one of them`)
  if (source === undefined) problem('url', 'is missing, expected url, sftp or s3')
  oneOfTwo(pull.every, pull.cron, () => problem('cron', 'found beside every, expected one of them'))
  if (pull.every === undefined && pull.cron === undefined) {
    problem('every', 'is missing, expected every (such as 15m) or cron')
  }
  if (pull.zone !== undefined && pull.cron === undefined) {
    problem('zone', 'has an effect only beside cron, expected it to be left out')
  }
  for (const key of source === undefined ? [] : foreignTo[source]) {
    if (pull[key] === undefined) continue
    const remedy =
      pull.url === undefined && pull.sftp && isOfSftpToo(key) ? 'expected it inside sftp' : undefined
    problem(key, `has no effect here, ${remedy ?? 'expected it to be left out'}`)
  }
  checkCredentials(pull, problem, document.unsetAt([...pullPath, 'url']).length > 0)
  checkNetwork(document, pullPath)
  if (isMapping(document.at([...pullPath, 'sftp']))) checkSftp(pull, problem)
  if (pull.s3 !== undefined) checkS3(document, pull, { path: [...pullPath, 's3'], problem })
}

function checkS3(
  document: ConfigDocument,
  pull: PullInput,
  { path, problem }: { path: ConfigPath; problem: Report },
): void {
  const { accessKeyId, secretAccessKey, secretAccessKeyFile } = pull.s3 ?? {}
  checkText(document, [...path, 'endpoint'], (address) => {
    const isServer = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
    return isServer || address === '' ? undefined : 'expected an address such as https://minio.example'
  })
  oneOfTwo(secretAccessKey, secretAccessKeyFile, () =>
    problem('s3.secretAccessKeyFile', 'found beside secretAccessKey, expected one of them'),
  )
  const hasSecret = secretAccessKey !== undefined || secretAccessKeyFile !== undefined
  if (accessKeyId !== undefined && !hasSecret) problem('s3.secretAccessKey', 'is missing beside accessKeyId')
  if (accessKeyId === undefined && hasSecret) problem('s3.accessKeyId', 'is missing beside secretAccessKey')
  checkMove(pull, problem)
}

/** Of `drop` or `pull`: reported as an unknown key. */
function hasMisspelt(document: ConfigDocument, path: ConfigPath): boolean {
  const unknown = namesAt(document, path).filter((key) => !(key in feedShape))
  return unknown.some((key) => suggestWord(key, ['drop', 'pull']) !== undefined)
}

type Report = (key: string, message: string, at?: 'key' | 'value') => void

function checkSftp({ sftp, after, moveTo }: PullInput, problem: Report): void {
  if (sftp === undefined) return
  const { password, passwordFile, privateKeyFile, passphrase, hostKey, knownHosts } = sftp
  oneOfTwo(password, passwordFile, () =>
    problem('sftp.passwordFile', 'found beside password, expected one of them'),
  )
  if (password === undefined && passwordFile === undefined && privateKeyFile === undefined) {
    problem('sftp.password', 'is missing, expected password, passwordFile or privateKeyFile')
  }
  if (passphrase !== undefined && privateKeyFile === undefined) {
    problem('sftp.passphrase', 'has an effect only beside privateKeyFile, expected it to be left out')
  }
  oneOfTwo(hostKey, knownHosts, () =>
    problem('sftp.knownHosts', 'found beside hostKey, expected one of them'),
  )
  if (hostKey === undefined && knownHosts === undefined) {
    const remedy =
      '"ssh-keyscan <host> | ssh-keygen -lf -" prints it; compare it with what the provider states'
    problem(
      'sftp.hostKey',
      `is missing, expected the fingerprint of the server’s key (${remedy}), or knownHosts`,
    )
  }
  checkMove({ after, moveTo }, problem)
}

function checkMove({ after, moveTo }: Pick<PullInput, 'after' | 'moveTo'>, problem: Report): void {
  if (after === 'move' && moveTo === undefined)
    problem('moveTo', 'is missing, expected a folder on the server')
  if (after !== 'move' && moveTo !== undefined) {
    problem('moveTo', 'has an effect only with after: move, expected it to be left out')
  }
}

/** What is sent over plain HTTP can be read on the way; inside a private network that is the operator's decision. */
function checkCredentials(pull: PullInput, problem: Report, isUnset: boolean): void {
  const { url, user, password, passwordFile, headers, allowPrivate } = pull
  if (url === undefined) return
  oneOfTwo(password, passwordFile, () =>
    problem('passwordFile', 'found beside password, expected one of them'),
  )
  const hasPassword = password !== undefined || passwordFile !== undefined
  if (user !== undefined && !hasPassword) problem('password', 'is missing beside user')
  if (user === undefined && hasPassword) problem('user', 'is missing beside password')
  const isSecret = user !== undefined || headers !== undefined
  if (!isUnset && isSecret && !isTrue(allowPrivate) && /^http:/i.test(url)) {
    problem(
      'url',
      'found http with headers or a password, expected https: they could be read on the way',
      'value',
    )
  }
}

function urlProblem(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const expected = 'expected an address such as https://shop.example/feed.xml'
  if (url === undefined) return expected
  if (url.protocol === 'sftp:') return 'expected https; files on an SFTP server are named under sftp'
  if (url.protocol === 's3:') return 'expected https; objects of a bucket are named under s3'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return expected
  if (url.username !== '' || url.password !== '') {
    return 'expected an address without user and password: they have keys of their own'
  }
  return undefined
}

function isOfSftpToo(key: Key): boolean {
  return key === 'user' || key === 'password' || key === 'passwordFile'
}

function oneOfTwo(first: unknown, second: unknown, report: () => void): void {
  if (first !== undefined && second !== undefined) report()
}
