import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { HeaderNames } from '../../src/operations/guess/header-names.ts'

const names = await HeaderNames.read()
const lists: Record<string, Record<string, string[]>> = parse(
  await readFile(new URL('../../config/headers.yaml', import.meta.url), 'utf8'),
)
const languages = ['en', 'de', 'fr', 'es', 'sv']
const further = ['it', 'nl', 'pl', 'cs', 'pt']

it.each(Object.keys(lists))('knows at least ten names of %s in each language', (meaning) => {
  for (const language of languages) {
    const known = new Set(lists[meaning]?.[language])
    expect(known.size, language).toBeGreaterThanOrEqual(10)
  }
  for (const language of further)
    expect(new Set(lists[meaning]?.[language]).size, language).toBeGreaterThanOrEqual(5)
})

it('finds every name of the lists, and what it means in the first list that has it', () => {
  for (const byLanguage of Object.values(lists)) {
    for (const name of Object.values(byLanguage).flat())
      expect(names.find(name), name).toMatchObject({ exact: true })
  }
})

/** Headers as they stand in exports, not taken from the lists. */
const own: Record<string, Record<string, readonly string[]>> = {
  English: {
    product_id: ['Item No.', 'PRODUCT_CODE', 'Article Number', 'SKU'],
    name: ['Product Name', 'ItemName', 'Title*', 'name_en'],
    price: ['Unit Price (USD)', 'Selling Price', 'PRICE', 'Retail price'],
    image_url: ['Image URL', 'main_image', 'Picture', 'ImageLink'],
    url: ['Product URL', 'Link', 'product_link', 'Deep Link'],
    inventory_level: ['Qty', 'Stock Qty', 'Quantity', 'Units in stock'],
    brand: ['Brand Name', 'Manufacturer', 'VENDOR'],
    categories: ['Category', 'product-type', 'Category Path'],
    description: ['Long Description', 'product_description'],
    gtin: ['EAN', 'Barcode', 'UPC'],
  },
  German: {
    product_id: ['Artikel-Nr.', 'ARTIKELNUMMER', 'ArtNr', 'Produktnummer'],
    name: ['Artikelbezeichnung', 'Produktname', 'Bezeichnung', 'Titel'],
    price: ['VK-Preis', 'Preis (EUR)', 'Bruttopreis', 'Verkaufspreis in EUR'],
    image_url: ['Bild-URL', 'Bild', 'Hauptbild', 'Bildlink'],
    url: ['Produkt-URL', 'Link', 'Deeplink'],
    inventory_level: ['Lagerbestand', 'Bestand', 'Menge'],
    brand: ['Marke', 'Hersteller'],
    categories: ['Warengruppe', 'Kategorie', 'Kategoriepfad'],
    list_price: ['UVP', 'Streichpreis'],
    gtin: ['EAN-Nummer', 'EAN-Code', 'GTIN'],
  },
  French: {
    product_id: ['Référence', 'Code article', 'REF'],
    name: ['Désignation', 'Nom du produit', 'Titre', 'Libellé'],
    price: ['Prix TTC', 'Prix de vente', 'PRIX', 'Prix (€)'],
    image_url: ['URL image', 'Image', 'Lien image', 'Photo'],
    url: ['Lien', 'URL produit', 'Lien produit'],
    inventory_level: ['Stock', 'Quantité', 'Quantité en stock'],
    brand: ['Marque', 'Fabricant'],
    categories: ['Catégorie', 'Famille', 'Rayon'],
    description: ['Description longue', 'Descriptif'],
    gtin: ['Code EAN', 'Code-barres', 'EAN13'],
  },
  Spanish: {
    product_id: ['Referencia', 'Código', 'Código de artículo', 'SKU'],
    name: ['Nombre', 'Nombre del producto', 'Título'],
    price: ['Precio', 'PVP', 'Precio venta', 'Precio con IVA'],
    image_url: ['Imagen', 'URL imagen', 'Foto'],
    url: ['Enlace', 'URL producto'],
    inventory_level: ['Existencias', 'Cantidad', 'Stock'],
    brand: ['Marca', 'Fabricante'],
    categories: ['Categoría', 'Familia', 'CATEGORIAS'],
    description: ['Descripción', 'Descripcion larga'],
    gtin: ['Código de barras', 'EAN', 'Código EAN'],
  },
  Swedish: {
    product_id: ['Artikelnummer', 'Artikelnr', 'Art.nr', 'Produktnummer'],
    name: ['Benämning', 'Produktnamn', 'Namn', 'Titel'],
    price: ['Pris', 'Pris (SEK)', 'Försäljningspris', 'Pris inkl. moms'],
    image_url: ['Bild', 'Bildlänk', 'Bild-URL'],
    url: ['Länk', 'Produktlänk'],
    inventory_level: ['Lagersaldo', 'Antal', 'Saldo'],
    brand: ['Varumärke', 'Märke', 'Tillverkare'],
    categories: ['Kategori', 'Varugrupp', 'Produktgrupp'],
    description: ['Beskrivning', 'Produktbeskrivning'],
    gtin: ['EAN-kod', 'Streckkod', 'GTIN'],
  },
  Italian: {
    product_id: ['Codice articolo', 'Cod. prodotto', 'Numero articolo nel negozio'],
    name: ['Nome prodotto', 'Titolo', 'Nome del prodotto'],
    price: ['Prezzo', 'Prezzo (EUR)', 'Prezzo IVA incl.'],
    image_url: ['Immagine', 'Immagine_1', 'URL immagine'],
    inventory_level: ['Quantità', 'Giacenza'],
    brand: ['Produttore / Marca', 'Marchio'],
    categories: ['Categoria', 'Categoria del prodotto nel negozio'],
    description: ['Descrizione del prodotto', 'Descrizione lunga'],
    gtin: ['Codice EAN', 'EAN / GTIN / codice a barre'],
  },
  Dutch: {
    product_id: ['Artikelnummer', 'Unieke code', 'Productcode'],
    name: ['Productnaam', 'Titel', 'Naam'],
    price: ['Prijs', 'Verkoopprijs', 'Prijs incl. btw'],
    image_url: ['Afbeelding', 'Afbeelding 1', 'Image-locatie'],
    inventory_level: ['Voorraad', 'Aantal'],
    availability: ['Op voorraad', 'Beschikbaarheid'],
    brand: ['Merk', 'Fabrikant'],
    categories: ['Categorie', 'Productgroep'],
    description: ['Omschrijving', 'Beschrijving van het product'],
    gtin: ['EAN-code', 'Streepjescode'],
  },
  Polish: {
    product_id: ['Kod produktu', 'Symbol', 'Numer artykułu w sklepie'],
    name: ['Nazwa', 'Nazwa produktu', 'Tytuł'],
    price: ['Cena', 'Cena brutto', 'Cena PLN'],
    image_url: ['Zdjęcie', 'Zdjecie glowne', 'Zdjęcie 1'],
    inventory_level: ['Ilość', 'Stan magazynowy', 'Liczba sztuk'],
    brand: ['Producent', 'Marka', 'Producent / Marka'],
    categories: ['Kategoria', 'Kategoria produktu w sklepie'],
    description: ['Opis', 'Opis produktu'],
    gtin: ['Kod EAN', 'EAN'],
  },
  Czech: {
    product_id: ['Kód', 'Kód zboží', 'Katalogové číslo'],
    name: ['Název', 'Název produktu', 'Jméno'],
    price: ['Cena', 'Cena s DPH', 'Cena CZK'],
    image_url: ['Obrázek', 'Hlavní obrázek', 'IMGURL'],
    inventory_level: ['Množství', 'Počet kusů'],
    brand: ['Výrobce', 'Značka'],
    categories: ['Kategorie', 'CATEGORYTEXT'],
    description: ['Popis', 'Krátký popis'],
    gtin: ['Čárový kód', 'EAN'],
  },
  Portuguese: {
    product_id: ['Código do produto', 'Referência', 'Código'],
    name: ['Nome', 'Nome do produto', 'Título'],
    price: ['Preço', 'Preço de venda', 'Preço (EUR)'],
    image_url: ['Imagem', 'URL da imagem', 'Imagem 1'],
    inventory_level: ['Estoque', 'Quantidade em estoque'],
    brand: ['Marca', 'Fabricante'],
    categories: ['Categoria', 'Categoria do produto'],
    description: ['Descrição', 'Descrição do produto'],
    gtin: ['Código de barras', 'EAN'],
  },
}

it.each(Object.entries(own))('recognises nine of ten headers of exports in %s', (_, byMeaning) => {
  const headers = Object.entries(byMeaning).flatMap(([meaning, all]) =>
    all.map((name) => [name, meaning] as const),
  )
  const missed = headers.filter(([name, meaning]) => names.find(name)?.meaning !== meaning)
  expect(
    missed.length / headers.length,
    JSON.stringify(missed.map(([name]) => [name, names.find(name)?.meaning])),
  ).toBeLessThanOrEqual(0.1)
})

it.each([
  ['name-en_US', 'name'],
  ['description-en_US-ecommerce', 'description'],
  ['pricing.price.amount', 'price'],
  ['offers.offer.priceHistory.price.@value', 'price'],
  ['title.en', 'name'],
  ['images.edges.node.image', 'image_url'],
  ['ItemText.name1', 'name'],
  ['Bild 1', 'image_url'],
  ['product_quantity', 'inventory_level'],
  ['*C:Brand', 'brand'],
  ['attributes[code=color].value', 'color'],
  ['attrs.a[@name=EAN]', 'gtin'],
  ['Fabricante / Marca', 'brand'],
  ['Hersteller / Markenname', 'brand'],
  ['Descripción del producto', 'description'],
  ['Categoría del producto en la tienda', 'categories'],
  ['N° artículo en tienda', 'product_id'],
  ['Número del fabricante (HAN/MPN)', 'mpn'],
  ['EAN / GTIN / Barcodenummer / UPC', 'gtin'],
  ['Artikelnummer im Shop', 'product_id'],
  ["Numéro d'article de la boutique", 'product_id'],
  ['Price (old)', 'list_price'],
  ['additional_imageurl', 'alternate_image_urls'],
  ['all_images', 'alternate_image_urls'],
])('reads %s as %s', (column, meaning) => expect(names.find(column)?.meaning).toBe(meaning))

it.each([
  'merchant_name2',
  'value',
  'en',
  'attributes[code=lining].value',
  'Preis / kg',
  'Price (wholesale)',
  'Shop name',
  'Nº',
  'Precio de envío',
])('reads nothing in %s', (column) => {
  expect(names.find(column)).toBeUndefined()
})
