import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { SftpSource } from '../../../src/config/model.ts'
import { waitFor } from '../../support/events.ts'
import type { TempDir } from '../../support/temp-dir.ts'
import { given } from './pull-site.ts'

const sshd = '/usr/sbin/sshd'

/** OpenSSH's server takes logins of other users, which only root may do. */
export const canServeSftp = existsSync(sshd) && process.getuid?.() === 0

export interface SftpServer extends AsyncDisposable {
  port: number
  /** Local path of the folder that is served. */
  folder: string
  /** `SHA256:…` of its keys. */
  fingerprints: { ed25519: string; rsa: string }
  /** Lines of known_hosts. */
  knownHosts: string
  /** How to reach it with the right key. */
  source: (changes?: Partial<SftpSource>) => SftpSource
  /** Ends it and every session at once, as a crash of the server would. */
  kill: () => Promise<void>
}

/**
 * OpenSSH's server on a free port, with keys of its own, for the user who runs the tests. `password`: that user's, in a
 * mount namespace of its own, so that nothing of the system is changed.
 */
export async function startSftpServer(
  dir: TempDir,
  { password, passphrase = '' }: { password?: string; passphrase?: string } = {},
): Promise<SftpServer> {
  const folder = dir.join('remote')
  await mkdir(folder, { recursive: true })
  for (const [name, type, secret] of [
    ['host_ed25519', 'ed25519', ''],
    ['host_rsa', 'rsa', ''],
    ['client', 'ed25519', passphrase],
  ] as const) {
    execFileSync('ssh-keygen', [
      '-q',
      '-t',
      type,
      ...(type === 'rsa' ? ['-b', '2048'] : []),
      '-N',
      secret,
      '-f',
      dir.join(name),
    ])
  }
  const port = await freePort()
  const user = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim()
  await writeFile(
    dir.join('sshd_config'),
    configOf(dir, { port, folder, isPassword: password !== undefined }),
  )
  const child = await spawnServer(dir, { user, password })
  const knownHosts = (
    await Promise.all(['host_ed25519.pub', 'host_rsa.pub'].map((name) => readFile(dir.join(name), 'utf8')))
  )
    .map((line) => `[127.0.0.1]:${port} ${line}`)
    .join('')
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'close')
    for (const pid of await withDescendants(child.pid as number)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch (error) {
        // That of a session ends by itself when its client is gone.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
    await ended
  }
  const fingerprints = {
    ed25519: fingerprintOf(dir.join('host_ed25519.pub')),
    rsa: fingerprintOf(dir.join('host_rsa.pub')),
  }
  const source = (changes: Partial<SftpSource> = {}): SftpSource => ({
    kind: 'sftp',
    host: given('127.0.0.1'),
    port,
    user: given(user),
    password: undefined,
    privateKeyFile: dir.join('client'),
    passphrase: undefined,
    hostKeys: [fingerprints.ed25519],
    knownHostsFile: undefined,
    folder,
    after: 'keep',
    moveTo: undefined,
    ...changes,
  })
  return { port, folder, fingerprints, knownHosts, source, kill, [Symbol.asyncDispose]: kill }
}

function configOf(
  dir: TempDir,
  { port, folder, isPassword }: { port: number; folder: string; isPassword: boolean },
) {
  return `Port ${port}
ListenAddress 127.0.0.1
HostKey ${dir.join('host_ed25519')}
HostKey ${dir.join('host_rsa')}
PidFile none
AuthorizedKeysFile ${dir.join('client.pub')}
PasswordAuthentication ${isPassword ? 'yes' : 'no'}
PermitRootLogin yes
StrictModes no
UsePAM no
Subsystem sftp internal-sftp
ForceCommand internal-sftp -d ${folder}
`
}

async function spawnServer(
  dir: TempDir,
  { user, password }: { user: string; password: string | undefined },
): Promise<ChildProcess> {
  await mkdir('/run/sshd', { recursive: true })
  const args = ['-D', '-e', '-f', dir.join('sshd_config')]
  let command = [sshd, ...args]
  if (password !== undefined) {
    const hash = execFileSync('openssl', ['passwd', '-6', password], { encoding: 'utf8' }).trim()
    await writeFile(dir.join('shadow'), `${user}:${hash}:19000:0:99999:7:::\n`)
    await chmod(dir.join('shadow'), 0o600)
    const script = `mount --bind ${dir.join('shadow')} /etc/shadow && exec ${command.join(' ')}`
    command = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script]
  }
  const child = spawn(command[0] ?? '', command.slice(1), {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`sshd ended:\n${said}`)
      return said.includes('Server listening')
    },
    { what: () => `sshd listens:\n${said}` },
  )
  return child
}

function fingerprintOf(file: string): string {
  return execFileSync('ssh-keygen', ['-lf', file], { encoding: 'utf8' }).split(' ')[1] ?? ''
}

/** Sessions leave the group of the server, so they are found by their parents. */
async function withDescendants(root: number): Promise<number[]> {
  const parents = new Map<number, number>()
  for (const entry of await readdir('/proc')) {
    const text = /^\d+$/.test(entry) ? await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '') : ''
    const [, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    if (text !== '') parents.set(Number(entry), Number(parent))
  }
  const found = [root]
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child)
  return found
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
