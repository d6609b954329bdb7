import { daySeconds, pick, scatter, seedEpochSeconds } from './stack-seed.ts'
import type { StackRecord } from './stack-table.ts'

// First letters are plain, so that every usual order of texts puts these names in the same order.
const people = [
  'Amara Okafor',
  'Bjorn Lindqvist',
  'Carmen Ruiz',
  'Dmitri Volkov',
  'Elena Rossi',
  'Farid Haddad',
  'Grace Kimani',
  'Hana Sato',
  'Ingrid Bakken',
  'Jonas Weber',
  'Kavya Nair',
  'Liam Murphy',
  'Mei Chen',
  'Noah Williams',
  'Olga Novak',
  'Pedro Almeida',
  'Quinn Harper',
  'Rania Mansour',
  'Søren Holm',
  'Tomás Herrera',
  'Uma Patel',
  'Viktor Horvat',
  'Wanjiru Mwangi',
  'Xavier Dubois',
  'Yusuf Demir',
  'Zoë Jansen',
  'Anna Weber',
  'Ben Murphy',
  'Chloe Dubois',
  'Daniel Chen',
  'Emma Williams',
  'Finn Weber',
  'Grace Chen',
  'Hugo Almeida',
  'Isla Murphy',
  'Jonas Holm',
] as const

const timeZones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Sydney',
  'Asia/Tokyo',
  'Europe/Helsinki',
  'America/Sao_Paulo',
  'UTC',
  'Asia/Kolkata',
  'Africa/Nairobi',
] as const

const groups = ['2', '2,3', '1', '3', '1,2', '2', '1,2,3'] as const
const descriptions = ['', 'Moderates at weekends', 'Agency', 'Looks after the campaigns'] as const

/** People of the admin portal in several groups, time zones and unit systems; some never logged in. */
export function seedUsers(): StackRecord[] {
  return people.map((person, index) => {
    const [name = '', surname = ''] = person.split(' ')
    // Scattered, so that the order by creation is another than the order by id.
    const createdAt = seedEpochSeconds - (30 + scatter(index, 700)) * daySeconds - index
    const login = seedEpochSeconds - scatter(index + 100, 30 * daySeconds)
    const username = plain(`${name.slice(0, 1)}${surname}`)
    return {
      id: index + 1,
      username: `${username}${index + 1}`,
      name,
      surname,
      email: `${plain(name)}.${plain(surname)}@stack.example`,
      description: pick(descriptions, index),
      display_timezone: pick(timeZones, index),
      distances: pick(['metric', 'imperial'], Math.floor(index / 3)),
      acl_groups: index === 0 ? '1' : pick(groups, index),
      last_login: index % 6 === 5 ? null : new Date(login * 1000).toISOString().replace('.000Z', 'Z'),
      created_at: createdAt,
      updated_at: createdAt + scatter(index, 20) * daySeconds,
    }
  })
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('ø', 'o')
    .normalize('NFD')
    .replace(/[^a-z]/g, '')
}
