const names =
  'item|entry|product|offer|article|record|row|listing|good|ad|variant|sku|shopitem|node|' +
  'produkt|artikel|angebot|produit|offre|producto|articulo|artículo|prodotto|articolo|vara|vare|tuote|товар'

const one = new RegExp(`^(${names})$`, 'i')
const many = new RegExp(
  `^(${names})(s|e|es|er|i)$|^(entries|data|results|content|feed|catalog|produkter|produkte|artiklar|varor|varer|productos|prodotti|articoli)$`,
  'i',
)

export function isRecordName(name: string): boolean {
  return one.test(name)
}

export function isRecordsName(name: string): boolean {
  return many.test(name)
}

/** What a record is called among records of that name; undefined when it does not tell. */
export function recordNameOf(records: string): string | undefined {
  if (/^entries$/i.test(records)) return 'entry'
  return many.exec(records)?.[1]
}
