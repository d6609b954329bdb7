import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

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
    services: { redis: Service; catalogd: Service }
    volumes: Record<string, unknown>
  }
  const { redis, catalogd } = compose.services

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
    expect(catalogd.depends_on).toEqual({ redis: { condition: 'service_healthy' } })
    expect(catalogd.environment?.REDIS_URL).toBe('redis://redis:6379')
    expect(Number.parseInt(catalogd.stop_grace_period, 10)).toBeGreaterThanOrEqual(15)
    expect([redis.restart, catalogd.restart]).toEqual(['unless-stopped', 'unless-stopped'])
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
      expect.arrayContaining(['.env', 'state', 'drop', '.git']),
    )
  })
})
