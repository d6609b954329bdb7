/**
 * How exports say whether a product is shown, in the languages of `config/headers.yaml`. Compared without case and
 * accents, as whole words.
 */
const words = {
  shown: `1;true;yes;y;on;active;enabled;published;publish;visible;online;live;listed;both;catalog;search;catalog, search;
    catalog/search;ja;j;aktiv;aktiviert;sichtbar;veröffentlicht;freigegeben;freigeschaltet;oui;o;actif;active;activé;
    publié;en ligne;affiché;si;s;activo;activa;activado;publicado;habilitado;en línea;mostrado;synlig;aktiverad;
    publicerad;visas;x;a;attivo;attiva;pubblicato;visibile;abilitato;actief;
    gepubliceerd;zichtbaar;ingeschakeld;aktywny;aktywna;widoczny;opublikowany;tak;aktivní;viditelný;zobrazit;ano;publikováno;
    ativo;ativa;publicado;visível;habilitado;sim;in use;for sale;on sale;approved;verkäuflich`,
  hidden: `d;h;0;-1;false;no;n;off;none;inactive;disabled;unpublished;invisible;hidden;not visible;not visible individually;
    offline;draft;archived;private;trash;unlisted;deleted;nein;inaktiv;deaktiviert;unsichtbar;versteckt;gesperrt;entwurf;
    archiviert;gelöscht;nicht sichtbar;non;inactif;désactivé;non publié;hors ligne;masqué;caché;brouillon;archivé;privé;
    corbeille;inactivo;desactivado;no publicado;deshabilitado;oculto;borrador;archivado;privado;papelera;nej;avaktiverad;
    inaktiverad;opublicerad;dold;utkast;arkiverad;privat;inattivo;nascosto;bozza;disattivato;inactief;verborgen;concept;
    uitgeschakeld;nieaktywny;ukryty;szkic;nie;wyłączony;neaktivní;skrytý;koncept;ne;inativo;rascunho;não visível;
    desativado;não;arquivado;staging;blocked;suspended;spärrad;bloqueado;bloccato;geblokkeerd;zablokowany;discontinued;ended;
    closed;not for sale;pending;rejected`,
} as const

const known: ReadonlyMap<string, 'shown' | 'hidden'> = new Map(
  (['shown', 'hidden'] as const).flatMap((state) =>
    words[state].split(';').map((word) => [fold(word), state] as const),
  ),
)

/** Undefined where the word is not known. */
export function readVisibility(word: string): 'shown' | 'hidden' | undefined {
  return known.get(fold(word))
}

function fold(word: string): string {
  return word
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[\s_]+/g, ' ')
    .trim()
}
