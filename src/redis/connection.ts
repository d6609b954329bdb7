import type { ChainableCommander, Redis } from 'ioredis'

/** One connection to Redis. Other stages know it by this name, so that `ioredis` is named in this folder only. */
export type RedisConnection = Redis

/** Commands collected by `pipeline()` or `multi()`. */
export type RedisBatch = ChainableCommander
