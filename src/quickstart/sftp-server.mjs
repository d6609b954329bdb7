import { existsSync } from 'node:fs'
import { findApt, installWithApt, StoppedError } from './apt-install.mjs'
import { findInPath, SetupError, say } from './run-command.mjs'

/** The PATH of a plain `su` leaves it out. */
const usualPlace = '/usr/sbin/sshd'

/**
 * Fetching over SFTP is tested against OpenSSH's server, which only root can run. Where it is not there, those tests say
 * so; all others run.
 */
export async function ensureSftpServer() {
  if (findInPath(['sshd']) !== undefined || existsSync(usualPlace)) return
  const apt = findApt()
  if (apt === undefined) {
    say('no sshd: the SFTP tests need one, and root (Debian/Ubuntu: apt-get install openssh-server)')
    return
  }
  try {
    await installWithApt(apt, ['openssh-server'], 'The SFTP tests need openssh-server.', [
      'ssh.service',
      'ssh.socket',
    ])
  } catch (error) {
    if (!(error instanceof SetupError) || error instanceof StoppedError) throw error
    say(error.message)
  }
}
