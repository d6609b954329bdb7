import { describeUrl } from './describe-source.ts'
import { PullError } from './pull-error.ts'

/** After a byte order mark, if there is one. */
const beginning = /^(?:ï»¿)?\s*<(?:!doctype\s+html|html|head|body)\b/i

/** A login or error page that is sent in place of the file, with a status that says all is well. */
export function checkNoWebPage(
  answer: { headers: Readonly<Record<string, string>>; url: URL },
  head: Buffer,
): void {
  if (!beginning.test(head.toString('latin1'))) return
  throw new PullError('web-page', `${describeUrl(answer.url)} answers with a web page in place of a file`, {
    hint: 'Correct url, or the user and password: it may be the page that asks for them',
  })
}
