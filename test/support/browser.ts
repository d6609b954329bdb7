import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--no-first-run',
  '--disable-sync',
]

/** A browser is wanted where all checks run; elsewhere `npm test` says that it is missing. */
export const isBrowserMissing = findBrowser() === undefined && !process.env.CI

export async function openBrowser(): Promise<Browser> {
  const executablePath = findBrowser()
  if (executablePath === undefined) throw new Error('no chromium in PATH; install the package chromium')
  return chromium.launch({ executablePath, args, headless: true })
}

function findBrowser(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const files = names.flatMap((name) =>
    (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)),
  )
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
