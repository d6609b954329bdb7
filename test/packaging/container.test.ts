import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig } from '../../src/config/load.ts'
import { tempDir } from '../support/temp-dir.ts'

const root = new URL('../../', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, root), 'utf8')

interface Service {
  command: string[]
  environment?: Record<string, string>
  volumes: string[]
  healthcheck?: { test: string[] }
  depends_on?: Record<string, { condition: string }>
  stop_grace_period: string
  restart: string
}

describe('docker-compose.yml', () => {
  const compose = parse(read('docker-compose.yml'), { strict: true }) as {
    services: { redis: Service; catalogd: Service; folders: Service }
    volumes: Record<string, unknown>
  }
  const { redis, catalogd, folders } = compose.services

  it('keeps every write of Redis and never evicts', () => {
    const options = redis.command.join(' ')
    expect(options).toBe(
      'redis-server --appendonly yes --appendfsync everysec --maxmemory 1gb --maxmemory-policy noeviction',
    )
    expect(redis.volumes).toEqual(['redis:/data'])
    expect(compose.volumes).toHaveProperty('redis')
  })

  it('starts catalogd when Redis answers, and lets it end in peace', () => {
    expect(redis.healthcheck?.test).toContain('CMD-SHELL')
    expect(catalogd.depends_on).toEqual({
      redis: { condition: 'service_healthy' },
      folders: { condition: 'service_completed_successfully' },
    })
    expect(catalogd.environment?.REDIS_URL).toBe('redis://redis:6379')
    expect(Number.parseInt(catalogd.stop_grace_period, 10)).toBeGreaterThanOrEqual(15)
    expect([redis.restart, catalogd.restart]).toEqual(['unless-stopped', 'unless-stopped'])
  })

  it('lets nothing be written but the folders, and gives these their owner first', () => {
    for (const one of [redis, catalogd, folders]) {
      expect(one).toMatchObject({ read_only: true, security_opt: ['no-new-privileges:true'] })
    }
    expect(catalogd).toMatchObject({ cap_drop: ['ALL'], tmpfs: ['/tmp:mode=1777'] })
    expect(folders).toMatchObject({ restart: 'no', volumes: catalogd.volumes.slice(1) })
  })

  it('mounts for each service only what is there or made by the operator, and names declared volumes', () => {
    const sources = Object.values(compose.services).flatMap(({ volumes }) =>
      volumes.map((volume) => volume.split(':')[0] ?? ''),
    )
    const ofOperator = ['./config', './drop', './state', './config/secrets/console-token']
    for (const source of sources.filter((one) => !ofOperator.includes(one))) {
      const isThere = source.startsWith('./')
        ? existsSync(fileURLToPath(new URL(source, root)))
        : Object.hasOwn(compose.volumes, source)
      expect(isThere, source).toBe(true)
    }
    const rules = parse(read('config/prometheus/prometheus.yml')) as { rule_files: string[] }
    for (const file of rules.rule_files) expect(read(`config/prometheus/${file}`)).toContain('groups:')
  })

  it('keeps configuration, feed files and state on the host', () => {
    const mounts = catalogd.volumes.map((volume) => volume.split(':')[0])
    expect(mounts).toEqual(['./config', './drop', './state'])
  })
})

describe('Dockerfile', () => {
  // Continuation lines belong to the instruction that they continue.
  const instructions = read('Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.split(/\s+/))
  const last = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'))
  const argumentOf = (name: string) =>
    last
      .findLast(([word]) => word === name)
      ?.slice(1)
      .join(' ')

  it('runs on the pinned major version of Node, not as root, and ends with SIGTERM', () => {
    const images = instructions.filter(([name]) => name === 'FROM').map(([, image]) => image)
    expect(images.every((image) => image?.startsWith('node:24-'))).toBe(true)
    expect(argumentOf('USER')).toBe('node')
    expect(argumentOf('STOPSIGNAL')).toBe('SIGTERM')
    expect(argumentOf('ENTRYPOINT')).toBe('["catalogd"]')
  })

  it('copies only what is there and what .dockerignore lets through', () => {
    const ignored = read('.dockerignore').trim().split('\n')
    const sources = instructions
      .filter(([name, flag]) => name === 'COPY' && !flag?.startsWith('--from'))
      .flatMap((words) => words.slice(1, -1))
    expect(sources).toContain('src')
    for (const source of sources) {
      expect(existsSync(fileURLToPath(new URL(source, root))), `${source} is copied but missing`).toBe(true)
      expect(ignored).not.toContain(source.split('/')[0])
    }
  })

  it('keeps secrets and state out of the image', () => {
    expect(read('.dockerignore').split('\n')).toEqual(
      expect.arrayContaining(['**/.env', '**/secrets', 'config/catalogd.yaml', 'state', 'drop', '.git']),
    )
    const copied = instructions.filter(([name]) => name === 'COPY').flatMap((words) => words.slice(1, -1))
    expect(copied).not.toContain('config')
  })

  it('says whether the process answers', () => {
    expect(argumentOf('HEALTHCHECK')).toMatch(/fetch\('http:\/\/127\.0\.0\.1:8480\/live'\)/)
  })
})

describe('the Kubernetes example', () => {
  interface Kind {
    kind: string
    metadata: { name: string }
    data?: Record<string, string>
    stringData?: Record<string, string>
    spec?: unknown
  }
  const documents = parseAllDocuments(read('config/kubernetes/catalogd.yaml'), { strict: true })
  const kinds = new Map(documents.map((one) => [(one.toJS() as Kind).kind, one.toJS() as Kind]))
  const pod = kinds.get('StatefulSet')?.spec as {
    template: {
      spec: {
        containers: { volumeMounts: { name: string; mountPath: string }[] }[]
        volumes: { name: string }[]
      }
    }
    volumeClaimTemplates: { metadata: { name: string } }[]
  }

  it('mounts volumes that are declared', () => {
    const { containers, volumes } = pod.template.spec
    const declared = [
      ...volumes.map(({ name }) => name),
      ...pod.volumeClaimTemplates.map((one) => one.metadata.name),
    ]
    expect(containers[0]?.volumeMounts.map(({ name }) => name).toSorted()).toEqual(declared.toSorted())
  })

  it('has a configuration that is correct, and whose secrets and folders are mounted', async () => {
    const text = kinds.get('ConfigMap')?.data?.['catalogd.yaml'] ?? ''
    await using dir = await tempDir('kubernetes')
    await writeFile(dir.join('catalogd.yaml'), text)
    const { config } = await readConfig({ file: dir.join('catalogd.yaml'), env: {} })
    const mounts = pod.template.spec.containers[0]?.volumeMounts.map(({ mountPath }) => mountPath)
    expect(mounts).toContain(config.stateDir)
    const secrets = [...text.matchAll(/\/run\/secrets\/catalogd\/([\w-]+)/g)].map(([, name]) => name)
    expect(secrets.toSorted()).toEqual(Object.keys(kinds.get('Secret')?.stringData ?? {}).toSorted())
  })
})

describe('the systemd unit', () => {
  it('starts, reloads and stops catalogd, and may write to its folders alone', () => {
    const unit = read('config/systemd/catalogd.service')
    const settingOf = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1]
    expect([settingOf('ExecStart'), settingOf('ExecReload')]).toEqual([
      '/usr/bin/catalogd start',
      '/usr/bin/catalogd reload',
    ])
    expect(settingOf('ProtectSystem')).toBe('strict')
    expect(settingOf('NoNewPrivileges')).toBe('true')
    expect(Number(settingOf('TimeoutStopSec'))).toBeGreaterThanOrEqual(15)
  })
})
