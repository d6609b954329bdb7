import { findApt, installWithApt, StoppedError } from './apt-install.mjs'
import { findInPath, SetupError, say } from './run-command.mjs'

const browsers = ['chromium', 'chromium-browser', 'google-chrome']

/** The sandbox's reference page is tested in a browser. Where none can be installed, that test says so; all others run. */
export async function ensureChromium() {
  if (findInPath(browsers) !== undefined) return
  const apt = findApt()
  if (apt === undefined) {
    say('no chromium in PATH: the page tests need one (Debian/Ubuntu: sudo apt-get install chromium)')
    return
  }
  try {
    await installWithApt(apt, ['chromium'], 'The page tests need chromium.')
  } catch (error) {
    if (!(error instanceof SetupError) || error instanceof StoppedError) throw error
    say(error.message)
  }
}
