import type { Encoding } from '../config/format-model.ts'

/** How often an encoding occurs is the order of the list: it is shown in messages. */
const canonical: readonly Encoding[] = [
  'utf-8',
  'windows-1252',
  'utf-16le',
  'utf-16be',
  'iso-8859-15',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'windows-874',
  'iso-8859-2',
  'iso-8859-3',
  'iso-8859-4',
  'iso-8859-5',
  'iso-8859-6',
  'iso-8859-7',
  'iso-8859-8',
  'iso-8859-10',
  'iso-8859-13',
  'iso-8859-14',
  'iso-8859-16',
  'koi8-r',
  'koi8-u',
  'ibm437',
  'ibm850',
  'ibm852',
  'ibm866',
  'macintosh',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
  'euc-kr',
  'utf-32le',
  'utf-32be',
]

/**
 * Labels as people, databases and XML declarations write them. Latin-1, Latin-5 and TIS-620 mean their Windows forms
 * here as on the web, which differ only in control codes; GBK and GB 2312 are parts of GB 18030.
 */
const labels: ReadonlyMap<string, Encoding> = new Map([
  ['utf8', 'utf-8'],
  ['us-ascii', 'windows-1252'],
  ['ascii', 'windows-1252'],
  ['iso-8859-1', 'windows-1252'],
  ['latin1', 'windows-1252'],
  ['ansi', 'windows-1252'],
  ['iso-8859-9', 'windows-1254'],
  ['latin5', 'windows-1254'],
  ['iso-8859-11', 'windows-874'],
  ['tis-620', 'windows-874'],
  ['latin2', 'iso-8859-2'],
  ['latin9', 'iso-8859-15'],
  ['macroman', 'macintosh'],
  ['x-mac-roman', 'macintosh'],
  ['shift-jis', 'shift_jis'],
  ['sjis', 'shift_jis'],
  ['windows-31j', 'shift_jis'],
  ['cp932', 'shift_jis'],
  ['eucjp', 'euc-jp'],
  ['gbk', 'gb18030'],
  ['gb2312', 'gb18030'],
  ['cp936', 'gb18030'],
  ['big5-hkscs', 'big5'],
  ['cp950', 'big5'],
  ['euckr', 'euc-kr'],
  ['ks_c_5601-1987', 'euc-kr'],
  ['cp949', 'euc-kr'],
])

/** The main name of each encoding that files may have. */
export const encodingNames: readonly string[] = canonical

export function encodingOf(label: string): Encoding | undefined {
  const name = label.trim().toLowerCase()
  const plain = name
    .replace(/^(?:cp|win-?|windows)(125\d|874)$/, 'windows-$1')
    .replace(/^iso_?8859/, 'iso-8859')
    .replace(/^latin-/, 'latin')
    .replace(/^cp(437|8[56]\d)$/, 'ibm$1')
  return canonical.find((encoding) => encoding === plain) ?? labels.get(plain)
}
