import type { ColumnFacts } from './column-facts.ts'

/** Parts of names, in the languages of `config/headers.yaml` and their neighbours. */
export const ofAmounts =
  /price|pricing|preis|prix|tarif|precio|importe|\bpris|\bvk\b|\bpvp|amount|betrag|montant|belopp|prezzo|prijs|\bcena\b|preço/i
/** What the shop pays, what others pay, what comes on top, and amounts in a hundredth of the currency. */
export const ofOthers =
  /cost|einkauf|\bek\b|purchase|achat|compra|inköp|wholesale|dealer|händler|grossist|revend|mayorista|b2b|shipping|versand|livraison|envío|envio|frakt|delivery|liefer|handling|base|grund|basis|\bunit|\btax|steuer|\bvat\b|\biva\b|\btva\b|moms|discount|rabatt|remise|descuento|saving|\bmin|\bmax|fee\b|deposit|pfand|level|tier|staffel|quantity|qty|menge|digits|fraction|precision|divisor|scale|exponent|cent|pence|penny|\b[öø]re\b|minor/i

/** A column that holds what products cost under a name of its own; never more than they cost before. */
export function findAmount(
  columns: readonly ColumnFacts[],
  list: ColumnFacts | undefined,
): ColumnFacts | undefined {
  return columns.find((facts) => {
    const name = spaced(facts.column)
    if (facts === list || !ofAmounts.test(name) || ofOthers.test(name)) return false
    const isHigher = list !== undefined && facts.mean > list.mean
    return facts.numbers > 0.9 && facts.fill > 0.8 && facts.mean > 0 && !isHigher
  })
}

/** Words apart, as in `Gross price` for `gross_price` and `GrossPrice`. */
export function spaced(column: string): string {
  return column.replace(/[_.]|(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
}
