/** What stands below `state` holds the merchant's files, and addresses: it is for the user of this process alone. */
export const privateFileMode = 0o600
export const privateFolderMode = 0o700
