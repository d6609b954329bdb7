import { daySeconds, pick, scatter, seedEpochSeconds } from './stack-seed.ts'
import type { StackRecord } from './stack-table.ts'

const assetCount = 220

const tags = ['hero', 'lookbook', 'lifestyle', 'product', 'banner', 'seasonal'] as const
const collections = ['Spring 2026', 'Autumn 2025', 'Press', 'Homepage', 'Archive'] as const
const subjects = [
  'Beach walk',
  'Kitchen table',
  'Mountain hut',
  'City bikes',
  'Picnic',
  'Studio shoes',
] as const
const workflowStates = ['draft', 'in_review', 'approved', 'rejected', 'archived'] as const
const rightStates = ['granted', 'requested', 'declined', 'not_requested'] as const

/** Pictures and videos of the library. Only some have rights that end. */
export function seedAssets(): StackRecord[] {
  return Array.from({ length: assetCount }, (_, index) => {
    const createdAt = seedEpochSeconds - scatter(index + 3, 400 * daySeconds)
    const isVideo = index % 6 === 5
    return {
      id: index + 1,
      title: `${pick(subjects, index)} ${index + 1}`,
      media: isVideo ? 'video' : 'image',
      file_name: `asset-${String(index + 1).padStart(4, '0')}.${isVideo ? 'mp4' : 'jpg'}`,
      file_bytes: 40_000 + scatter(index, 9_000_000),
      width: pick([1080, 1920, 4000], index),
      height: pick([1080, 1080, 3000], index),
      owner: { name: pick(['Studio', 'Agency', 'Community'], scatter(index, 13)), licence: index % 3 === 0 },
      tags: Array.from({ length: index % 3 }, (_, position) => pick(tags, index + position * 2)),
      collections: Array.from({ length: scatter(index, 3) }, (_, position) =>
        pick(collections, index + position),
      ),
      workflow_status: pick(workflowStates, scatter(index + 11, 50)),
      right_status: pick(rightStates, index),
      expired_at: index % 3 === 1 ? seedEpochSeconds + (scatter(index, 365) - 120) * daySeconds : null,
      created_at: createdAt,
      updated_at: createdAt + scatter(index, 30) * daySeconds,
    }
  })
}
