import { createHmac } from 'node:crypto'
import { mkdir, readdir, readFile, rename, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FeedConfig, PullConfig, SftpSource } from '../../../src/config/model.ts'
import { algorithmsOf, readKnownKeys } from '../../../src/sources/pull/host-keys.ts'
import { leakCheck } from '../../support/leak-check.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { given, openPullSite, pullOf } from '../support/pull-site.ts'
import { canServeSftp, type SftpServer, startSftpServer } from '../support/sftp-server.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const csv: Partial<FeedConfig> = { files: [{ pattern: '*.csv', mode: 'full' }] }

function siteOf(
  dir: string,
  server: SftpServer,
  {
    feed = {},
    limits = {},
    ...changes
  }: Partial<SftpSource> & { feed?: Partial<FeedConfig>; limits?: Partial<PullConfig> } = {},
) {
  return openPullSite({ dir, pull: pullOf(server.source(changes), limits), feed: { ...csv, ...feed } })
}

/** A number is the size of a sparse file. */
async function put(
  server: SftpServer,
  name: string,
  content: string | number,
  secondsAgo = 100,
): Promise<void> {
  await writeFile(join(server.folder, name), typeof content === 'string' ? content : '')
  if (typeof content === 'number') await truncate(join(server.folder, name), content)
  const at = Math.floor(Date.parse('2026-11-20T12:00:00Z') / 1000) - secondsAgo
  await utimes(join(server.folder, name), at, at)
}

const needsSshd = 'needs /usr/sbin/sshd (openssh-server) and root'

describe.skipIf(!canServeSftp)(`a folder on an SFTP server (${needsSshd})`, () => {
  test('its files are accepted oldest first, once, whatever restarts between', async () => {
    await using dir = await tempDir('pull')
    await using server = await startSftpServer(dir)
    await put(server, 'b.csv', 'sku\n2\n', 50)
    await put(server, 'a.csv', 'sku\n1\n', 90)
    await put(server, 'c.csv.part', 'sku\n')
    await put(server, '.hidden.csv', 'sku\n')
    await put(server, 'readme.txt', 'no feed file')
    await mkdir(join(server.folder, 'folder.csv'))
    for (let run = 0; run < 2; run++) {
      await using site = await siteOf(dir.join('state'), server)
      await site.fetch()
      await site.fetch()
      expect(site.trouble()).toBeUndefined()
      expect(site.accepted().map(({ name }) => name)).toEqual(['a.csv', 'b.csv'])
      const [path = ''] = site.archivedPaths()
      expect(await readFile(path, 'utf8')).toBe('sku\n1\n')
    }
    // Written anew it is a new file.
    await put(server, 'a.csv', 'sku\n3\n', 10)
    await using site = await siteOf(dir.join('state'), server)
    await site.fetch()
    expect(site.accepted().map(({ name }) => name)).toEqual(['a.csv', 'b.csv', 'a.csv'])
  })

  test('deletes what was accepted, and its marker', async () => {
    await using dir = await tempDir('pull')
    await using server = await startSftpServer(dir)
    await put(server, 'a.csv', 'sku\n1\n')
    await put(server, 'b.csv', 'sku\n1\n')
    await put(server, 'a.csv.done', '')
    const feed: Partial<FeedConfig> = { settle: { kind: 'marker', pattern: '*.done' } }
    await using site = await siteOf(dir.join('state'), server, { after: 'delete', feed })
    await site.fetch()
    expect(await readdir(server.folder)).toEqual(['b.csv'])
    expect(site.accepted().map(({ name }) => name)).toEqual(['a.csv'])
  })

  test('moves what was accepted, beside what was moved before', async () => {
    await using dir = await tempDir('pull')
    await using server = await startSftpServer(dir)
    await using site = await siteOf(dir.join('state'), server, { after: 'move', moveTo: 'old/done' })
    for (const content of ['1', '2']) {
      await put(server, 'a.csv', `sku\n${content}\n`)
      await site.fetch()
      expect(site.trouble()).toBeUndefined()
    }
    const moved = (await readdir(join(server.folder, 'old/done'))).sort()
    expect(moved).toEqual([expect.stringMatching(/^\d{8}T\d{9}-a\.csv$/), 'a.csv'])
    expect(await readdir(server.folder)).toEqual(['old'])
    expect(site.accepted()).toHaveLength(2)
  })

  test('moves a second file of a name that leaves no room for a time before it', async () => {
    await using dir = await tempDir('pull')
    await using server = await startSftpServer(dir)
    await using site = await siteOf(dir.join('state'), server, { after: 'move', moveTo: 'done' })
    const name = `${'n'.repeat(251)}.csv`
    for (const content of ['1', '2']) {
      await put(server, name, `sku\n${content}\n`)
      await site.fetch()
      expect(site.trouble()).toBeUndefined()
    }
    const moved = (await readdir(join(server.folder, 'done'))).sort()
    expect(moved).toEqual([expect.stringMatching(/^\d{8}T\d{9}-n+\.csv$/), name])
    expect(Buffer.byteLength(moved[0] ?? '')).toBe(255)
    expect(await readdir(server.folder)).toEqual(['done'])
  })

  test('a file that still grows waits until it does not', async () => {
    await using dir = await tempDir('pull')
    await using server = await startSftpServer(dir)
    await put(server, 'a.csv', 'sku\n1\n', 90)
    const feed: Partial<FeedConfig> = { settle: { kind: 'quiet', forMs: 11_000 } }
    await using site = await siteOf(dir.join('state'), server, { feed })
    await site.fetch()
    expect(site.accepted()).toEqual([])
    const quick = await siteOf(dir.join('state2'), server, { feed: { settle: { kind: 'quiet', forMs: 10 } } })
    await using _ = quick
    await quick.fetch()
    expect(quick.accepted()).toHaveLength(1)
  })

  test('what cannot be deleted is accepted once all the same, and told', async () => {
    await using dir = await tempDir('pull')
    await using server = await startSftpServer(dir)
    await put(server, 'a.csv', 'sku\n1\n')
    // A folder in the place of the one to move to cannot be made: a file has its name.
    await writeFile(join(server.folder, 'done'), 'in the way')
    for (let run = 0; run < 2; run++) {
      await using site = await siteOf(dir.join('state'), server, { after: 'move', moveTo: 'done/x' })
      await site.fetch()
      expect(site.trouble()).toMatch(/cannot move .*a\.csv/)
      expect(site.accepted()).toHaveLength(1)
    }
    await rename(join(server.folder, 'done'), join(server.folder, 'out-of-the-way'))
    await using site = await siteOf(dir.join('state'), server, { after: 'move', moveTo: 'done/x' })
    await site.fetch()
    expect(site.trouble()).toBeUndefined()
    expect(site.accepted()).toHaveLength(1)
    expect(await readdir(join(server.folder, 'done/x'))).toEqual(['a.csv'])
  })

  test.each(['before the line', 'after the line'])(
    'a crash %s takes no file twice and loses none',
    async (when) => {
      await using dir = await tempDir('pull')
      await using server = await startSftpServer(dir)
      await put(server, 'a.csv', 'sku\n1\n')
      {
        await using site = await siteOf(dir.join('state'), server, { after: 'delete' })
        const append = site.acceptor.append.bind(site.acceptor)
        site.acceptor.append = async (lines) => {
          if (when === 'after the line') await append(lines)
          throw Object.assign(new Error('the process ends here'), { code: 'EIO' })
        }
        await site.fetch()
        expect(await readdir(server.folder)).toEqual(['a.csv'])
      }
      await using site = await siteOf(dir.join('state'), server, { after: 'delete' })
      await site.fetch()
      expect(site.accepted()).toHaveLength(1)
      expect(await readdir(server.folder)).toEqual([])
      expect(await readFile(site.archivedPaths()[0] ?? '', 'utf8')).toBe('sku\n1\n')
    },
  )

  test('a server that ends in the middle costs nothing but another fetch', async () => {
    await using dir = await tempDir('pull')
    await using server = await startSftpServer(dir)
    // So large that the server has ended long before all of it has arrived.
    await put(server, 'a.csv', 2 ** 32)
    const limits = { bytesMax: 2 ** 33 }
    await using site = await siteOf(dir.join('state'), server, { limits })
    const fetching = site.fetch()
    const pullDir = dir.join('state', 'pull', 'products')
    for (;;) {
      const part = (await readdir(pullDir).catch(() => [])).find((name) => name.startsWith('.part-'))
      if (part && (await stat(join(pullDir, part)).catch(() => undefined))?.size) break
    }
    await server.kill()
    expect(await fetching).toBeGreaterThan(0)
    expect(site.trouble()).toMatch(/cannot read .*a\.csv.*connection has ended|cannot read/)
    expect(site.accepted()).toEqual([])
    expect(await readdir(pullDir)).toEqual(['state.json'])
  })

  test('a file that is too large is told, the others are taken', async () => {
    await using dir = await tempDir('pull')
    await using server = await startSftpServer(dir)
    await put(server, 'a.csv', 'x'.repeat(2000), 90)
    await put(server, 'b.csv', 'sku\n1\n', 50)
    await using site = await siteOf(dir.join('state'), server, { limits: { bytesMax: 1000 } })
    await site.fetch()
    expect(site.trouble()).toMatch(/more than 1000 bytes.*maxBytes/)
    expect(site.accepted().map(({ name }) => name)).toEqual(['b.csv'])
  })

  test('lets itself be known by any of its keys, and by known_hosts', async () => {
    await using dir = await tempDir('pull')
    await using server = await startSftpServer(dir)
    await put(server, 'a.csv', 'sku\n1\n')
    const knownHostsFile = dir.join('known_hosts')
    await writeFile(knownHostsFile, server.knownHosts)
    for (const changes of [{ hostKeys: [server.fingerprints.rsa] }, { hostKeys: [], knownHostsFile }]) {
      await using site = await siteOf(dir.join('state'), server, changes)
      await site.fetch()
      expect(site.trouble()).toBeUndefined()
      expect(site.accepted()).toHaveLength(1)
    }
  })

  test('is refused with another key, which is shown, before anything is sent', async () => {
    await using dir = await tempDir('pull')
    await using server = await startSftpServer(dir)
    const wanted = `SHA256:${'A'.repeat(43)}`
    await using site = await siteOf(dir.join('state'), server, { hostKeys: [wanted] })
    await site.fetch()
    expect(site.trouble()).toContain(`${server.fingerprints.ed25519} (ssh-ed25519)`)
    expect(site.trouble()).toContain(`${server.fingerprints.rsa} (ssh-rsa)`)
    expect(site.trouble()).toContain(`expected ${wanted}`)
    await writeFile(dir.join('other_hosts'), server.knownHosts.replaceAll('127.0.0.1', '127.0.0.9'))
    const changes = { hostKeys: [], knownHostsFile: dir.join('other_hosts') }
    await using other = await siteOf(dir.join('state2'), server, changes)
    await other.fetch()
    expect(other.trouble()).toMatch(/has no key of 127\.0\.0\.1 port \d+.*ssh-keyscan/)
  })

  test('takes a password, and a key with a passphrase', async () => {
    await using dir = await tempDir('pull')
    await using server = await startSftpServer(dir, { password: 'sesame', passphrase: 'open' })
    await put(server, 'a.csv', 'sku\n1\n')
    const withPassword = (text: string) => ({ password: given(text), privateKeyFile: undefined })
    const troubles: (string | undefined)[] = []
    for (const changes of [
      withPassword('sesame'),
      withPassword('wrong'),
      { passphrase: given('open') },
      { passphrase: given('wrong') },
      { privateKeyFile: dir.join('nothing') },
      { folder: '/nowhere' },
      { host: given('127.0.0.1'), port: 1 },
    ]) {
      await using site = await siteOf(
        dir.join('state'),
        server,
        'folder' in changes ? { ...changes, passphrase: given('open') } : changes,
      )
      await site.fetch()
      troubles.push(site.trouble())
      expect(JSON.stringify(site.lines)).not.toMatch(/sesame|wrong/)
    }
    expect(troubles).toEqual([
      undefined,
      expect.stringMatching(/does not let \w+ in. Correct user, and password/),
      undefined,
      expect.stringMatching(/private key cannot be used/),
      expect.stringMatching(/nothing cannot be read/),
      expect.stringMatching(/cannot list \/nowhere.*Correct folder/),
      expect.stringMatching(/cannot be reached: .*ECONNREFUSED/),
    ])
  })
})

describe('known_hosts', () => {
  const key = (text: string) => Buffer.from(text).toString('base64')
  const hashed = (name: string) => {
    const salt = Buffer.from('salt of twenty bytes')
    return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`
  }

  test.each([
    ['a name', 'sftp.example ssh-ed25519 KEY', 'sftp.example', 22, true],
    ['one of several', 'other,SFTP.example ssh-ed25519 KEY', 'sftp.example', 22, true],
    ['another name', 'sftp.example.org ssh-ed25519 KEY', 'sftp.example', 22, false],
    ['a port', '[sftp.example]:2222 ssh-ed25519 KEY', 'sftp.example', 2222, true],
    ['a name without its port', 'sftp.example ssh-ed25519 KEY', 'sftp.example', 2222, false],
    ['a pattern', '*.example ssh-ed25519 KEY', 'sftp.example', 22, true],
    ['a pattern with an exception', '*.example,!sftp.example ssh-ed25519 KEY', 'sftp.example', 22, false],
    ['a hash', `${hashed('sftp.example')} ssh-ed25519 KEY`, 'sftp.example', 22, true],
    ['a hash of another', `${hashed('other.example')} ssh-ed25519 KEY`, 'sftp.example', 22, false],
    ['a comment', '# sftp.example ssh-ed25519 KEY', 'sftp.example', 22, false],
    ['an authority', '@cert-authority *.example ssh-ed25519 KEY', 'sftp.example', 22, false],
    ['a revoked key', 'sftp.example ssh-ed25519 KEY\n@revoked * ssh-ed25519 KEY', 'sftp.example', 22, false],
  ])('%s', (_, text, host, port, isKnown) => {
    const known = readKnownKeys(`\n${text.replaceAll('KEY', key('key'))}\n`, { host, port })
    expect(known.map((one) => one.key.toString())).toEqual(isKnown ? ['key'] : [])
  })

  test('an RSA key is asked for by its newer signatures first', () => {
    expect(algorithmsOf('ssh-rsa')[0]).toBe('rsa-sha2-512')
  })
})
