import { describeCommands } from './describe-commands.ts'
import { describeErrors } from './describe-errors.ts'
import { describeKeys } from './describe-keys.ts'
import { readPage } from './pages.ts'

// Parts of pages that are made of the code: between these lines. What stands around them is written by hand.

const begins = '<!-- npm run docs: begins -->\n'
const ends = '<!-- npm run docs: ends -->'

/** Makes the part anew. It is given what stands there, of which it may keep what people wrote. */
type Describe = (present: string) => string | Promise<string>

const parts: Record<string, Describe> = {
  'docs/configuration.md': describeKeys,
  'docs/commands.md': describeCommands,
  'docs/errors.md': describeErrors,
}

/** Each such page as it stands, and as it should. */
export async function makePages(): Promise<{ page: string; present: string; made: string }[]> {
  return await Promise.all(
    Object.entries(parts).map(async ([page, describe]) => {
      const present = readPage(page)
      const [before = '', rest = ''] = present.split(begins)
      const [part = '', after = ''] = rest.split(ends)
      return { page, present, made: `${before}${begins}${await describe(part)}${ends}${after}` }
    }),
  )
}
