/**
 * No body of products is longer, in bytes of UTF-8 with brackets and commas. The API says "2 MB", and nowhere whether
 * that is 2,000,000 or 2,097,152.
 */
export const callBytesMax = 2_000_000
