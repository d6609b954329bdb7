/** Columns of a file, cells or keys of a record, elements and attributes of one together. */
export const columnsMax = 10_000

/** Elements, or objects and arrays, that lie in each other. */
export const depthMax = 64
