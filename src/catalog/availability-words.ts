import { Problem } from './problem.ts'
import { textOf } from './text-of.ts'

/**
 * How shops say whether something can be had: English, German, French, Spanish, Swedish, Dutch, Italian, Polish, Czech,
 * Portuguese and Russian, and the addresses of schema.org. Compared by letters and digits alone, without accents. What
 * cannot be sent at once (pre-order, back-order) is out of stock, since the contract has no word for it; `when` may say
 * otherwise.
 */
const states: Readonly<Record<string, string>> = {
  InStock: `in stock;instock;on stock;available;available now;limited availability;limited stock;low stock;yes;y;true;1;
    auf lager;ab lager;lagernd;verfügbar;sofort verfügbar;lieferbar;sofort lieferbar;ab lager lieferbar;vorrätig;
    vorhanden;ja;en stock;disponible;disponible immédiatement;oui;en existencia;en existencias;hay existencias;
    con stock;sí;i lager;finns i lager;lagervara;på lager;tillgänglig;tillgängligt;op voorraad;voorradig;leverbaar;
    direct leverbaar;beschikbaar;disponibile;disponibili;in magazzino;pronta consegna;disponibilità immediata;si;
    dostępny;dostępna;dostępne;w magazynie;na stanie;na magazynie;od ręki;tak;skladem;na skladě;ihned k odeslání;
    k dispozici;dostupné;ano;em estoque;em stock;disponível;pronta entrega;sim;на складе;в наличии;есть в наличии;
    lieferbar sofort`,
  OutOfStock: `out of stock;outofstock;no stock;not in stock;not available;unavailable;sold out;no;n;false;0;
    preorder;pre order;pre sale;backorder;back order;backordered;on backorder;available for order;available on demand;
    nicht auf lager;nicht lagernd;nicht verfügbar;nicht lieferbar;nicht vorrätig;derzeit nicht verfügbar;ausverkauft;
    vergriffen;vorbestellbar;vorbestellung;nachbestellt;nein;
    en rupture de stock;en rupture;rupture de stock;rupture;épuisé;indisponible;non disponible;pas en stock;précommande;
    sur commande;non;agotado;sin stock;sin existencias;no disponible;fuera de stock;no hay existencias;preventa;reserva;
    slut;slut i lager;slutsåld;slutsålt;ej i lager;inte i lager;ej tillgänglig;finns ej i lager;beställningsvara;
    förhandsbokning;förbeställning;nej;uitverkocht;niet op voorraad;niet voorradig;niet leverbaar;niet beschikbaar;
    nabestelling;nee;esaurito;esaurita;non disponibile;non disponibili;non in stock;non in magazzino;preordine;su ordinazione;
    niedostępny;niedostępna;niedostępne;brak;brak w magazynie;
    na zamówienie;wyprzedany;przedsprzedaż;není skladem;vyprodáno;nedostupné;na objednávku;předobjednávka;ne;
    sem estoque;sem stock;fora de estoque;esgotado;indisponível;sob encomenda;pré venda;não;нет в наличии;под заказ;
    предзаказ;ikke på lager;udsolgt`,
  Discontinued: `discontinued;retired;obsolete;end of life;nicht mehr lieferbar;nicht mehr verfügbar;eingestellt;
    plus disponible;arrêté;abandonné;descatalogado;descontinuado;utgått;utgått ur sortimentet;har utgått;utgången;
    niet meer leverbaar;uit assortiment;fuori produzione;fuori catalogo`,
  Invisible: `invisible;hidden;unsichtbar;versteckt;oculto;dold;verborgen;nascosto`,
}

const known: ReadonlyMap<string, string> = new Map(
  Object.entries(states).flatMap(([state, list]) =>
    list.split(';').map((word) => [fold(word), state] as const),
  ),
)

/** A known availability, or a `Problem`. Numbers other than 0 and 1 are quantities, which are no words. */
export function readAvailability(value: unknown, describe: (value: unknown) => string): string | Problem {
  const text = textOf(value)?.trim()
  const word = text?.replace(/^https?:\/\/schema\.org\//i, '')
  const state = word === undefined || /^-|\d[\d.,]/.test(word) ? undefined : known.get(fold(word))
  if (state !== undefined) return state
  const remedy = 'add it to when, or set otherwise'
  const found = `found ${describe(value)}, expected a usual word such as "in stock"`
  return new Problem('availability-unknown-word', { found, remedy })
}

function fold(word: string): string {
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}
