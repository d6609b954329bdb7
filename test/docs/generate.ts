import { writeFileSync } from 'node:fs'
import { makePages } from './generated.ts'

// npm run docs: makes what the pages say of keys, commands and errors anew of the code.

for (const { page, made } of await makePages()) {
  writeFileSync(new URL(`../../${page}`, import.meta.url), made)
}
