import { IANAZone } from 'luxon'
import { z } from 'zod'
import {
  duration,
  flag,
  mapping,
  mappingOf,
  oneOf,
  optionalText,
  secretFile,
  size,
  text,
  textOf,
  wholeNumber,
} from './leaves.ts'
import { networkShape } from './network-schema.ts'

/** Header names of RFC 9110; a value may hold anything that fits into one line. */
export const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'a name of a header such as Authorization')
export const headerValue = textOf(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  (value) => value !== '' && !/[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/.test(value),
  'the value of a header in one line',
)
/** As `ssh-keygen -l` and `ssh-keyscan … | ssh-keygen -lf -` print it. */
const fingerprint = textOf(
  (value) => /^SHA256:[A-Za-z0-9+/]{43}=?$/.test(value) || value.includes('${'),
  'a fingerprint such as SHA256:… (43 characters), as "ssh-keyscan <host> | ssh-keygen -lf -" prints it',
)
const remoteFolder = text('a folder on the server')

const sftpSchema = mapping({
  host: text('a host name').describe('Name of the server'),
  port: wholeNumber({ min: 1, max: 65_535 }).default(22).describe('Port of the server'),
  user: text('a user name').describe('User on the server'),
  password: optionalText('a password').optional().describe('Password of the user'),
  passwordFile: secretFile('password'),
  privateKeyFile: text('a file that holds a private key')
    .optional()
    .describe('Instead of a password: a private key, in OpenSSH or PEM form'),
  passphrase: optionalText('the passphrase of the private key').optional().describe('Of the private key'),
  hostKey: z
    .union([fingerprint, z.array(fingerprint).min(1)], {
      error: 'the fingerprint of the server’s key such as SHA256:…, or a list of them',
    })
    .optional()
    .describe('Fingerprint of the server, or a list of them; any other server is refused'),
  knownHosts: text('a file in the form of ~/.ssh/known_hosts')
    .optional()
    .describe('Instead of hostKey: a file as ssh keeps it'),
  folder: remoteFolder
    .default('.')
    .describe('Folder on the server; files says which of its files belong to the feed'),
})

const s3Schema = mapping({
  bucket: text('the name of a bucket').describe('Whose objects are fetched'),
  prefix: optionalText('the beginning of keys such as exports/')
    .default('')
    .describe('What keys begin with; what follows, without a further slash, is the name of the file'),
  endpoint: optionalText('the address of a store such as https://minio.example')
    .optional()
    .describe('Of an S3-compatible store; left out: AWS'),
  region: text('a region such as eu-central-1').default('us-east-1').describe('Of the bucket'),
  pathStyle: flag()
    .optional()
    .describe('Name the bucket in the path, not in the host; default: true with endpoint, else false'),
  accessKeyId: optionalText('an access key id')
    .optional()
    .describe('Left out: as the AWS tools find it (environment, shared files, role of the machine)'),
  secretAccessKey: optionalText('a secret access key').optional().describe('Beside accessKeyId'),
  secretAccessKeyFile: secretFile('secret access key'),
  sessionToken: optionalText('a session token').optional().describe('Of temporary credentials'),
})

export const pullSchema = mapping({
  s3: s3Schema.optional().describe('Objects of a bucket; which belong to the feed is said by files'),
  url: text('an address such as https://shop.example/feed.xml')
    .optional()
    .describe('From this address; or give sftp'),
  sftp: sftpSchema.optional().describe('From an SFTP server'),
  every: duration({ minMs: 1000 }).optional().describe('How often; or give cron'),
  cron: textOf(isCron, 'five fields: minute, hour, day, month and weekday, such as "15 3 * * *"')
    .optional()
    .describe('When: minute, hour, day, month, weekday'),
  zone: textOf((zone) => IANAZone.isValidZone(zone), 'a time zone such as Europe/Berlin')
    .optional()
    .describe('Of cron; default UTC'),
  headers: mappingOf(headerName, headerValue, 'a mapping of headers')
    .optional()
    .describe('Sent with each request, to the origin of url only; their values are secrets'),
  user: text('a user name').optional().describe('Basic authentication at url'),
  password: optionalText('a password').optional().describe('Of user'),
  passwordFile: secretFile('password'),
  allowPrivate: flag().optional().describe('The address may be of a private network or of this machine'),
  ...networkShape,
  name: textOf((value) => value !== '' && !/[/\\]/.test(value), 'a file name without a folder')
    .optional()
    .describe('Of the file that is fetched; default: what the server calls it'),
  maxBytes: size({ min: 1, max: 1e12, because: 'a larger file is not fetched' })
    .default('20GB')
    .describe('A larger file is not fetched'),
  timeout: duration({ minMs: 100 }).default('60s').describe('How long the server may be silent'),
  atMost: duration({ minMs: 1000 }).default('6h').describe('How long one fetch may take as a whole'),
  after: oneOf(['keep', 'delete', 'move'])
    .optional()
    .describe('What becomes of a file on the SFTP server once it is accepted; default keep'),
  moveTo: remoteFolder.optional().describe('Folder on the server, relative to folder, for after: move'),
})

export type PullInput = z.output<typeof pullSchema>

/** Of each field: its bounds, and the names that stand for numbers from the first bound on. */
const fields = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC' },
  { min: 0, max: 7, names: 'SUN MON TUE WED THU FRI SAT' },
] as const
type Field = (typeof fields)[number]

/** Whether a text is a cron line of minute, hour, day, month and weekday, with lists, ranges, steps and English names. */
export function isCron(text: string): boolean {
  const parts = text.trim().split(/\s+/)
  return parts.length === fields.length && fields.every((field, index) => isField(parts[index] ?? '', field))
}

function isField(text: string, field: Field): boolean {
  return text.split(',').every((item) => {
    const [, range = '', step] = /^([^/]+)(?:\/([1-9]\d{0,3}))?$/.exec(item) ?? []
    if (range === '*') return true
    const [from, to, ...more] = range.split('-').map((bound) => numberOf(bound, field))
    if (from === undefined || more.length > 0) return false
    if (!range.includes('-')) return step === undefined
    return to !== undefined && from <= to
  })
}

function numberOf(text: string, field: Field): number | undefined {
  const name = 'names' in field ? field.names.split(' ').indexOf(text.toUpperCase()) : -1
  const number = /^\d{1,2}$/.test(text) ? Number(text) : name < 0 ? Number.NaN : name + field.min
  return number >= field.min && number <= field.max ? number : undefined
}
