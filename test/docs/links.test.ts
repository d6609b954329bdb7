import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { headingsOf, pageNames, readPage, withoutFences } from './pages.ts'

// Pages are found: each link leads somewhere, and each page is led to from the README.

const root = new URL('../../', import.meta.url)

describe('the pages', () => {
  it.each(pageNames)('%s has no dead link', (page) => {
    expect(linksOf(page).flatMap(({ path, anchor }) => problemOf(path, anchor))).toEqual([])
  })

  it('are all reached from the README', () => {
    const reached = new Set<string>()
    const visit = (page: string) => {
      if (reached.has(page) || !pageNames.includes(page)) return
      reached.add(page)
      for (const { path } of linksOf(page)) visit(path)
    }
    visit('README.md')
    expect(pageNames.filter((page) => !reached.has(page))).toEqual([])
  })

  it('begin with a README of at most 250 lines', () => {
    expect(readPage('README.md').split('\n').length).toBeLessThanOrEqual(251)
  })
})

/** Links into the project, from where the page lies. */
function linksOf(page: string): { path: string; anchor: string }[] {
  const prose = withoutFences(readPage(page)).replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#')
      return { path: file === '' ? page : posix.join(posix.dirname(page), file), anchor }
    })
}

function problemOf(path: string, anchor: string): string[] {
  if (!existsSync(new URL(path, root))) return [`${path} does not exist`]
  if (anchor === '' || !path.endsWith('.md')) return []
  return headingsOf(path).has(anchor) ? [] : [`${path} has no heading for #${anchor}`]
}
