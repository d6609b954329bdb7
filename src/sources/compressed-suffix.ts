/** Ends the names of compressed files; without it the name is that of the plain file. */
export const compressedSuffix = /\.(?:gz|zst|zip)$/i
