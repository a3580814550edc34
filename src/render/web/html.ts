/** A part of a page, as HTML text that is safe to show. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Something that a template can contain; null, undefined and false show nothing. */
type Value = Html | string | number | null | undefined | false | readonly Value[];

/** A template of HTML. Values are text and always escaped, also between double quotes, except other templates. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(strings.map((string, at) => string + textOf(values[at])).join(''));
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '"': '&quot;' };

function textOf(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return String(value).replace(/[&<"]/g, sign => escapes[sign] ?? '');
}
