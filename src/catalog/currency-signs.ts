/** Signs and words that mean one currency wherever they stand; the others need the merchant's word. Lower case. */
const signs: ReadonlyMap<string, string> = new Map(
  `EUR € euro euros;GBP £;INR ₹;RUB ₽ руб;TRY ₺ tl;PLN zł zl;CZK kč kc;HUF ft;BGN лв;UAH ₴ грн;ILS ₪;KRW ₩;VND ₫;THB ฿;
  PHP ₱;NGN ₦;KZT ₸;GEL ₾;AZN ₼;GHS ₵;CRC ₡;PYG ₲;MNT ₮;LAK ₭;BDT ৳;AMD ֏;SEK kronor;IDR rp;MYR rm;USD us$ usd$;
  CAD ca$ c$ can$;AUD a$ au$;NZD nz$;HKD hk$;SGD s$ sg$;TWD nt$;MXN mx$ mex$;BRL r$;CHF sfr`
    .split(';')
    .flatMap((line) => {
      const [code = '', ...known] = line.trim().split(' ')
      return known.map((sign) => [sign, code] as const)
    }),
)

/** The ISO 4217 code; undefined for signs that several currencies share. */
export function codeOfSign(sign: string): string | undefined {
  return signs.get(sign.toLowerCase())
}
