import { expect, it } from 'vitest'
import { guessText } from './guess-support.ts'

const languages: Readonly<Record<string, readonly string[]>> = {
  French: [
    'ID,Type,UGS,Nom,Publié,"Visibilité dans le catalogue",Description,"En stock ?",Stock',
    '"Tarif promo","Tarif régulier",Catégories,Images,Parent',
  ],
  Spanish: [
    'ID,Tipo,SKU,Nombre,Publicado,"Visibilidad en el catálogo",Descripción,¿Existencias?,Inventario',
    '"Precio rebajado","Precio normal",Categorías,Imágenes,Superior',
  ],
  Italian: [
    'ID,Tipo,COD,Nome,Pubblicato,"Visibilità nel catalogo",Descrizione,"In stock?",Magazzino',
    '"Prezzo in offerta","Prezzo di listino",Categorie,Immagini,Genitore',
  ],
  Russian: [
    'ID,Тип,Артикул,Имя,Опубликован,"Видимость в каталоге",Описание,"В наличии?",Запасы',
    '"Акционная цена","Базовая цена",Категории,Изображения,Родительский',
  ],
}

it.each(Object.entries(languages))('knows the export of WooCommerce in %s', async (_, header) => {
  const image = 'https://c.example/1.jpg'
  const { rules, products } = await guessText(
    [
      header.join(','),
      `1,simple,S1,Lamp,1,visible,Soft,1,4,9,12,"Home > Light",${image},`,
      `2,simple,,Shade,0,visible,Soft,1,4,,5,Home,${image},`,
      '',
    ].join('\n'),
    { shopUrl: 'https://c.example', currency: 'EUR' },
  )
  expect(rules.preset?.value).toBe('woocommerce')
  expect(products).toMatchObject([
    { product_id: 'S1', name: 'Lamp', price: 9, list_price: 12, availability: 'InStock', inventory_level: 4 },
    { product_id: '2', price: 5, availability: 'Invisible', categories: ['Home'], image_url: image },
  ])
})
