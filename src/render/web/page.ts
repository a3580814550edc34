import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { instantMs } from '../../contract/time.ts';
import { printable } from '../../printable.ts';
import { browsables } from '../../store/read/browsable.ts';
import { withoutAddressSecrets } from '../endpoint.ts';
import { cut } from '../table.ts';
import { Html, html } from './html.ts';

/** The parts in which pages differ. Their links begin with a slash at the root of the server. */
export interface PageParts {
  readonly heading: string;
  readonly intro?: Html;
  readonly main: Html;
  readonly footer?: string;
}

const style = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8');
const styleHash = createHash('sha256').update(style).digest('base64');
const policy = (forms: string) =>
  `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action ${forms}`;

/** The content security policy of served pages: they load and run nothing, and have only their one style sheet. */
export const servedPolicy = `${policy("'self'")}; frame-ancestors 'none'`;

/** A page that needs no script, network or file. `path` is its own on the server, without a slash at its begin; null for a file. */
export function page(path: string | null, { heading, intro, main, footer }: PageParts): string {
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="${policy(path === null ? "'none'" : "'self'")}">
<link rel="icon" href="data:,">
<title>${heading}${path && ' – docmirror'}</title>
<style>${new Html(style)}</style>
</head>
<body${path && html` class="wide"`}>
<header>
${path !== null && navigation(path)}
<h1>${heading}</h1>
${intro}
</header>
<main>
${main}
</main>
<footer><p>${footer ?? 'Times are in UTC.'} Endpoints are cut to scheme and host.</p></footer>
</body>
</html>
`;
  // Nothing is at the addresses of a file. Relative ones are also found behind a proxy.
  if (path === null) return text.replace(/<a href="\/[^"]*">(.*?)<\/a>/gs, '$1');
  const root = '../'.repeat(path.split('/').length - 1) || './';
  return text.replaceAll(/ (href|action)="\//g, ` $1="${root}`);
}

function navigation(path: string): Html {
  const lists = browsables.map(({ resource, title }) => [resource, title] as const);
  const others = Object.entries({ changes: 'Changes', runs: 'Runs', service: 'Service' });
  const pages = [['', 'Report'] as const, ...lists, ...others];
  return html`<nav aria-label="Pages">${pages.map(
    ([name, title]) =>
      html`<a href="/${name}"${path.split('/').includes(name) && html` aria-current="page"`}>${title}</a> `,
  )}<form role="search" action="/search">
<input aria-label="Search all lists" name="q" type="search" placeholder="Title, name, reference" autocomplete="off">
<button>Search</button></form></nav>`;
}

/** A link to the page of a record or connection. */
export function recordLink(resource: string, id: number, text: string | number): Html {
  const folder = resource === 'connections' ? '' : 'records/';
  return html`<a href="/${folder}${resource}/${id}">${text}</a>`;
}

/** A text of a record on one line of a page: cut, harmless, and without the secret parts of addresses. */
export function brief(text: string, max = 300): string {
  return cut(printable(withoutAddressSecrets(text)), max);
}

/** A point in time to the minute, in UTC: `2026-11-20 23:15`; hovering shows all of it. A text that is no time stays. */
export function timeTag(text: string): Html {
  const ms = instantMs(text);
  if (ms === null) return html`${text}`;
  const iso = new Date(ms).toISOString();
  return html`<time datetime="${iso}" title="${text}">${iso.slice(0, 10)} ${iso.slice(11, 16)}</time>`;
}
