import type { JsonValue } from '../../api/contract/json-value.ts'
import { daySeconds, pick, scatter, seedEpochSeconds } from './stack-seed.ts'
import type { StackRecord } from './stack-table.ts'

const tileCount = 240

const networks = ['instagram', 'twitter', 'facebook', 'youtube', 'pinterest', 'rss'] as const
const media = ['image', 'video', 'text'] as const
const tags = ['summer', 'winter', 'travel', 'food', 'fashion', 'outdoor', 'sale', 'family'] as const

const places = [
  { name: 'Berlin', country: 'DE', latitude: 52.52, longitude: 13.405 },
  { name: 'Sydney', country: 'AU', latitude: -33.869, longitude: 151.209 },
  { name: 'New York', country: 'US', latitude: 40.713, longitude: -74.006 },
  { name: 'Tokyo', country: 'JP', latitude: 35.682, longitude: 139.759 },
  { name: 'Helsinki', country: 'FI', latitude: 60.17, longitude: 24.938 },
] as const

const texts = [
  'Best summer ever at the lake with the new paddle board',
  'Love these boots, perfect for the trail',
  'Delivery took three weeks, not happy at all',
  'Sunday pancakes in the new pan',
  'Can anyone recommend a tent for four?',
  'Snow day! The jacket keeps the wind out',
  'Unboxing the camera, video on my channel',
  'The sale starts tomorrow, see you there',
  'Broken after one week and no answer from support',
  'Family picnic with the wicker basket',
] as const

const authors = [
  'lakeside.lena',
  'trail_tom',
  'panfan',
  'campingkai',
  'snow.ines',
  'unbox_ulla',
  'dealdora',
] as const

/** What was taken in from the networks. Every kind of value occurs, also those that are missing or null. */
export function seedTiles(): StackRecord[] {
  return Array.from({ length: tileCount }, (_, index) => {
    const createdAt = seedEpochSeconds - scatter(index, 90 * daySeconds)
    return {
      id: index + 1,
      network: pick(networks, index),
      media: pick(media, scatter(index, 7)),
      text: `${pick(texts, index)} #${pick(tags, scatter(index, 8))}`,
      author: {
        handle: pick(authors, scatter(index + 7, 31)),
        followers: scatter(index, 50_000),
        verified: index % 9 === 0,
      },
      url: `https://social.example/posts/${100_000 + index * 37}`,
      tags: tagsOf(index),
      location: index % 4 === 3 ? null : pick(places, scatter(index, 23)),
      ...(index % 10 === 9 ? {} : { stackla_sentiment_score: scatter(index + 500, 201) / 100 - 1 }),
      status: pick(['published', 'queued', 'published', 'disabled', 'published'], index),
      hotspot: hotspotsOf(index),
      votes: scatter(index + 900, 120),
      created_at: createdAt,
      ingested_at: createdAt + 60 + scatter(index, 3_600),
    }
  })
}

function tagsOf(index: number): JsonValue[] {
  const first = scatter(index, tags.length)
  return Array.from({ length: index % 4 }, (_, position) => pick(tags, first + position * 3))
}

function hotspotsOf(index: number): JsonValue[] {
  return Array.from({ length: index % 5 === 0 ? (index % 3) + 1 : 0 }, (_, position) => ({
    product_id: `P-${1_000 + scatter(index + position, 40)}`,
    x: scatter(index + position, 100) / 100,
    y: scatter(index + position + 50, 100) / 100,
  }))
}
