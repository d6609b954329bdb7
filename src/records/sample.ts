/** The beginning of a text, decompressed but not decoded. */
export interface Sample {
  bytes: Buffer
  /** The sample is the whole text. */
  complete: boolean
}
