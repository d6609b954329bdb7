/** Branded strings and numbers: same value at run time, not interchangeable at compile time. */
export type Brand<T, Name extends string> = T & { readonly __brand: Name }

/** One merchant account at the API: a key of `catalogs:` in the configuration. */
export type CatalogName = Brand<string, 'CatalogName'>
/** One configured source of files: a key of `feeds:`. */
export type FeedName = Brand<string, 'FeedName'>
/** `product_id` of the contract, trimmed, never empty. */
export type ProductId = Brand<string, 'ProductId'>
/** Keyed hash of an e-mail address, which stands for it in the outbox as a `product_id` does for a product. */
export type ConsentId = ProductId & { readonly __consent: true }
/** Position of a line of the catalog's manifest, counted from 1. Files and operator decisions share the count. */
export type AcceptSequence = Brand<number, 'AcceptSequence'>
