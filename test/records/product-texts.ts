import type { Encoding } from '../../src/config/format-model.ts'

/** Names and descriptions as shops write them, and the encodings in which such files are exported. */
export const productTexts: Readonly<
  Record<string, { encodings: readonly Encoding[]; header: string; texts: readonly string[] }>
> = {
  German: {
    encodings: ['windows-1252'],
    header: 'Artikelnummer;Bezeichnung;Größe',
    texts: [
      'Wasserdichte Wanderstiefel für Männer – Größe 43',
      'Küchenmesser mit Griff aus geöltem Nussbaum, Klingenlänge 20 cm',
      'Gemütliche Strickjacke mit Kapuze, weiß',
      'Bügeleisen, 2400 W, Sohle aus Edelstahl, übersichtliche Anzeige',
      'Süßkirschen im Glas, ungezuckert, 680 g',
      'Hängematte für zwei Personen, Tragfähigkeit 200 kg, „Seeblick“',
    ],
  },
  French: {
    encodings: ['windows-1252'],
    header: 'référence;désignation;catégorie',
    texts: [
      'Théière en grès émaillé, capacité 1,2 litre',
      'Manteau d’hiver doublé à capuche amovible, très léger',
      'Crème hydratante à l’huile d’amande, 50 ml',
      'Poêle à crêpes avec poignée façon bois, ø 28 cm',
      'Fenêtre de toit pivotante, modèle « Été »',
      'Chaîne en acier inoxydable brossé, fermoir sécurisé',
    ],
  },
  Spanish: {
    encodings: ['windows-1252'],
    header: 'código;descripción;tamaño',
    texts: [
      'Sartén de aluminio fundido con revestimiento antiadherente, diseño español',
      'Camisón de algodón orgánico para niña, tallas pequeñas',
      'Lámpara de pie con pantalla de lino, iluminación cálida',
      'Jamón ibérico de bellota, cortado a mano, sobre de 100 g',
      'Muñeca de trapo con corazón bordado, sin plásticos',
    ],
  },
  Swedish: {
    encodings: ['windows-1252'],
    header: 'artikelnr;benämning;färg',
    texts: [
      'Fårskinnstofflor för kvinnor, ljusgrå, håller fötterna varma',
      'Kökshandduk i hellinne, vävd på gammalt vis i Småland',
      'Hängare av ek med öglor i läder, fyrpack',
      'Förvaringslåda med lock, går att stapla på höjden',
      'Blåbärssylt utan tillsatt socker, två burkar à 400 g',
    ],
  },
  Portuguese: {
    encodings: ['windows-1252'],
    header: 'código;descrição;preço',
    texts: [
      'Calção de banho com secagem rápida, padrão às riscas',
      'Máquina de café expresso automática, pressão de 15 bar',
      'Colchão de espuma viscoelástica com capa removível e lavável',
      'Azulejos pintados à mão, coleção São João, peça única',
      'Relógio de parede em cortiça portuguesa, não faz ruído',
    ],
  },
  Danish: {
    encodings: ['windows-1252'],
    header: 'varenummer;beskrivelse;størrelse',
    texts: [
      'Regnjakke til børn med aftagelig hætte og reflekser på ærmerne',
      'Brødkniv af rustfrit stål, 22 cm, tåler opvaskemaskine',
      'Sæbeskål i håndlavet stentøj, blå glasur',
      'Æblegrød med vanilje, økologisk, 500 g',
      'Gåstøvler med gummisål, størrelse 38 til 45',
    ],
  },
  Polish: {
    encodings: ['windows-1250', 'iso-8859-2'],
    header: 'indeks;nazwa;cena',
    texts: [
      'Śpiwór turystyczny z odpinanym kapturem, waga całkowita 1,4 kg',
      'Męska koszula z długim rękawem, bawełna, łatwa w prasowaniu',
      'Ręcznik kąpielowy, gęsty splot, możliwość prania w wyższej temperaturze',
      'Żeliwna patelnia do smażenia, średnica 28 cm, pasuje do każdej kuchenki',
      'Książka kucharska: domowe wypieki, ciasta i chleb na zakwasie',
      'Pościel dziecięca w gwiazdki, wykończona złotą nicią',
    ],
  },
  Czech: {
    encodings: ['windows-1250', 'iso-8859-2'],
    header: 'kód;název;cena',
    texts: [
      'Dětská zimní bunda s odnímatelnou kapucí, příjemný materiál uvnitř',
      'Křišťálové sklenice na víno, ručně broušené, sada šesti kusů',
      'Nůž na chléb s dřevěnou rukojetí, délka čepele 21 cm',
      'Žárovka s teplým světlem, šetří až třetinu energie',
      'Větruodolný deštník, automatické otevírání, černý',
      'Ložní povlečení z bavlněného saténu, zapínání na zip',
    ],
  },
  Hungarian: {
    encodings: ['windows-1250', 'iso-8859-2'],
    header: 'cikkszám;megnevezés;ár',
    texts: [
      'Vízálló túrabakancs férfiaknak, könnyű és tartós kivitelben',
      'Nagyméretű főzőlap üvegkerámia felülettel, négy főzőzónával',
      'Gyerek pizsama hosszú ujjú felsővel, pamutból készült',
      'Őszi dzseki levehető kapucnival, belső zsebekkel és húzózárral',
      'Fűszerkeverék sült húsokhoz, erős, füstölt pirospaprikával',
      'Kézműves szappan levendulával, érzékeny bőrűeknek',
    ],
  },
  Russian: {
    encodings: ['windows-1251', 'koi8-r', 'iso-8859-5'],
    header: 'артикул;наименование;цена',
    texts: [
      'Куртка мужская зимняя с капюшоном, цвет тёмно-синий',
      'Чайник электрический, объём полтора литра, нержавеющая сталь',
      'Детский конструктор, двести деталей, для детей от шести лет',
      'Набор ножей для кухни с подставкой из бамбука',
      'Постельное бельё из хлопка, двуспальный комплект',
    ],
  },
  Bulgarian: {
    encodings: ['windows-1251'],
    header: 'код;наименование;цена',
    texts: [
      'Дамско зимно яке с качулка, водоустойчиво, черен цвят',
      'Електрическа кана от неръждаема стомана, обем един литър',
      'Детска образователна играчка с магнити, над сто части',
      'Комплект спално бельо от памук, за двойно легло',
    ],
  },
  Greek: {
    encodings: ['windows-1253', 'iso-8859-7'],
    header: 'κωδικός;περιγραφή;τιμή',
    texts: [
      'Ανδρικό μπουφάν αδιάβροχο με κουκούλα, χρώμα μπλε σκούρο',
      'Ηλεκτρικός βραστήρας από ανοξείδωτο χάλυβα, χωρητικότητα δύο λίτρα',
      'Παιδικό παζλ με ζώα, εκατό κομμάτια',
      'Σετ μαχαίρια κουζίνας με ξύλινη βάση και ακονιστήρι',
      'Βαμβακερά σεντόνια για διπλό κρεβάτι, σετ των τεσσάρων τεμαχίων',
    ],
  },
  Turkish: {
    encodings: ['windows-1254'],
    header: 'ürün kodu;ürün adı;fiyat',
    texts: [
      'Kapüşonlu erkek kışlık mont, su geçirmez kumaş, koyu yeşil',
      'Paslanmaz çelik elektrikli su ısıtıcısı, iki litre, kablosuz kullanım',
      'Çocuklar için ahşap yapboz, yüz parça, eğitici oyuncak',
      'Mutfak bıçağı seti, ağaç sapı ile birlikte, altı parçalı',
      'Çift kişilik pamuklu nevresim takımı, yıkanabilir, beyaz çiçek desenli',
      'Güneş gözlüğü, kadınlar için, şık ve hafif çerçeve',
    ],
  },
  Hebrew: {
    encodings: ['windows-1255'],
    header: 'מק"ט;שם המוצר;מחיר',
    texts: [
      'מעיל חורף לגברים עם כובע, עמיד במים, צבע כחול כהה',
      'קומקום חשמלי מנירוסטה, נפח של שני ליטר',
      'פאזל לילדים עם חיות, מאה חלקים, מגיל ארבע',
      'סט סכינים למטבח עם מעמד מעץ',
      'מצעים למיטה זוגית מכותנה, סט של ארבעה חלקים',
    ],
  },
  Arabic: {
    encodings: ['windows-1256'],
    header: 'الرمز;اسم المنتج;السعر',
    texts: [
      'سترة شتوية للرجال مع غطاء للرأس، مقاومة للماء، لون أزرق داكن',
      'غلاية كهربائية من الفولاذ المقاوم للصدأ، سعة لترين',
      'لعبة تركيب للأطفال مع حيوانات، مئة قطعة',
      'طقم سكاكين للمطبخ مع حامل من الخشب',
      'أغطية سرير من القطن لسرير مزدوج، أربع قطع',
    ],
  },
  Lithuanian: {
    encodings: ['windows-1257'],
    header: 'kodas;pavadinimas;kaina',
    texts: [
      'Vyriška žieminė striukė su gobtuvu, neperšlampama, tamsiai mėlyna',
      'Elektrinis virdulys iš nerūdijančio plieno, talpa du litrai',
      'Vaikiška dėlionė su gyvūnais, šimtas detalių, skirta nuo ketverių metų',
      'Virtuvės peilių rinkinys su mediniu stovu, šešių dalių',
      'Medvilninė patalynė dvigulei lovai, keturių dalių rinkinys, lengvai skalbiama',
    ],
  },
  Thai: {
    encodings: ['windows-874'],
    header: 'รหัส;ชื่อสินค้า;ราคา',
    texts: [
      'เสื้อกันหนาวผู้ชายมีฮู้ด กันน้ำ สีน้ำเงินเข้ม',
      'กาต้มน้ำไฟฟ้าสแตนเลส ความจุสองลิตร',
      'จิ๊กซอว์สำหรับเด็กรูปสัตว์ หนึ่งร้อยชิ้น',
      'ชุดมีดทำครัวพร้อมที่เก็บไม้',
      'ชุดเครื่องนอนผ้าฝ้ายสำหรับเตียงคู่ สี่ชิ้น',
    ],
  },
  Japanese: {
    encodings: ['shift_jis', 'euc-jp'],
    header: '商品コード;商品名;価格',
    texts: [
      'メンズ冬用ジャケット フード付き 防水 ネイビー',
      'ステンレス製電気ケトル 容量1.2リットル おしゃれな注ぎ口',
      '子供用の木製パズル 動物の絵柄 百ピース',
      '包丁セット 木製スタンド付き 食器洗い機には使えません',
      '綿百パーセントの掛け布団カバー ダブルサイズ 洗濯機で洗えます',
    ],
  },
  Chinese: {
    encodings: ['gb18030'],
    header: '货号;商品名称;价格',
    texts: [
      '男士冬季连帽外套，防水面料，深蓝色',
      '不锈钢电热水壶，容量两升，自动断电',
      '儿童木制拼图，动物图案，一百片，适合四岁以上',
      '厨房刀具套装，配木制刀架，不可用洗碗机清洗',
      '纯棉双人床上用品四件套，可机洗',
    ],
  },
  'Traditional Chinese': {
    encodings: ['big5'],
    header: '貨號;商品名稱;價格',
    texts: [
      '男士冬季連帽外套，防水布料，深藍色',
      '不鏽鋼電熱水壺，容量兩公升，自動斷電',
      '兒童木製拼圖，動物圖案，一百片，適合四歲以上',
      '廚房刀具組，附木製刀架，不可用洗碗機清洗',
      '純棉雙人床包四件組，可以機洗',
    ],
  },
  Korean: {
    encodings: ['euc-kr'],
    header: '상품코드;상품명;가격',
    texts: [
      '남성용 겨울 후드 재킷, 방수 원단, 짙은 남색',
      '스테인리스 전기 주전자, 용량 이 리터, 자동 전원 차단',
      '어린이용 나무 퍼즐, 동물 그림, 백 조각',
      '주방용 칼 세트, 나무 받침대 포함, 식기세척기 사용 불가',
      '면 백 퍼센트 더블 침구 세트, 세탁기 사용 가능',
    ],
  },
}
