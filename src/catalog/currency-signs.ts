/** Signs and words that mean one currency wherever they stand; the others need the merchant's word. Lower case. */
const signs: Readonly<Record<string, string>> = {
  ...{
    '€': 'EUR',
    euro: 'EUR',
    euros: 'EUR',
    '£': 'GBP',
    '₹': 'INR',
    '₽': 'RUB',
    руб: 'RUB',
    '₺': 'TRY',
    tl: 'TRY',
  },
  ...{ zł: 'PLN', zl: 'PLN', kč: 'CZK', kc: 'CZK', ft: 'HUF', лв: 'BGN', '₴': 'UAH', грн: 'UAH', '₪': 'ILS' },
  ...{
    '₩': 'KRW',
    '₫': 'VND',
    '฿': 'THB',
    '₱': 'PHP',
    '₦': 'NGN',
    '₸': 'KZT',
    '₾': 'GEL',
    '₼': 'AZN',
    '₵': 'GHS',
  },
  ...{
    '₡': 'CRC',
    '₲': 'PYG',
    '₮': 'MNT',
    '₭': 'LAK',
    '৳': 'BDT',
    '֏': 'AMD',
    kronor: 'SEK',
    rp: 'IDR',
    rm: 'MYR',
  },
  ...{
    us$: 'USD',
    usd$: 'USD',
    ca$: 'CAD',
    c$: 'CAD',
    can$: 'CAD',
    a$: 'AUD',
    au$: 'AUD',
    nz$: 'NZD',
    hk$: 'HKD',
  },
  ...{ s$: 'SGD', sg$: 'SGD', nt$: 'TWD', mx$: 'MXN', mex$: 'MXN', r$: 'BRL', sfr: 'CHF' },
}

/** The ISO 4217 code; undefined for signs that several currencies share. */
export function codeOfSign(sign: string): string | undefined {
  const folded = sign.toLowerCase()
  return Object.hasOwn(signs, folded) ? signs[folded] : undefined
}
