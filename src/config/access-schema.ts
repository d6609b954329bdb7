import { flag, mapping, optionalText, secretFile } from './leaves.ts'
import { networkShape } from './network-schema.ts'

// Access to the APIs that no feed is delivered to.

export const stackSchema = mapping({
  url: optionalText('a base address').optional().describe('https, or http on this machine'),
  accessToken: optionalText('an access token').optional().describe('Access token of a user of the Stack'),
  accessTokenFile: secretFile('token'),
  name: optionalText('the name of the Stack').optional().describe('Name of the Stack'),
  ...networkShape,
})

export const intentSchema = mapping({
  url: optionalText('a base address').optional().describe('https, or http on this machine'),
  token: optionalText('an API_LIM token').optional().describe('Token of kind API_LIM'),
  tokenFile: secretFile('token'),
  partnerId: optionalText('a partner id').optional().describe('Of requests that name none'),
  shopify: flag()
    .default(false)
    .describe('The merchant runs on Shopify: requests must say country and locale'),
  country: optionalText('a country such as US').optional().describe('Of requests that name none'),
  locale: optionalText('a locale such as en').optional().describe('Of requests that name none'),
  ...networkShape,
})
