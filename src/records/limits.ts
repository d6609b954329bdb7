/** Columns of a file, cells or keys of a record, elements and attributes of one together. */
export const columnsMax = 10_000

/** Elements, or objects and arrays, that lie in each other. */
export const depthMax = 64

/** Elements, or values of JSON, of one record: a parser takes a second for three times as many. */
export const elementsMax = 100_000

/** Of a start tag with its attributes. */
export const tagBytesMax = 2 ** 20
