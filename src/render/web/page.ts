import { createHash } from 'node:crypto';
import { browsables } from '../../contract/browsable.ts';
import { printable } from '../../printable.ts';
import { cut } from '../cut.ts';
import { withoutAddressSecrets } from '../endpoint.ts';
import { Html, html } from './html.ts';
import { styleSheet } from './style.ts';

/** The path from a page to the other pages of a server. It is relative, so that they are also found behind a proxy. */
export type ServedRoot = './' | '../' | '../../';

/** The same; null for a page in a file of its own. */
export type Root = ServedRoot | null;

/** The parts in which pages differ. */
interface PageParts {
  readonly heading: string;
  /** The title of the window, if it is not the heading. */
  readonly title?: string;
  /** Below the heading. */
  readonly intro?: Html;
  readonly main: Html;
  readonly footer?: Html;
  readonly root: Root;
  /** The page's own address, seen from the root: its link in the navigation is marked. */
  readonly at?: string;
  /** The text in the search box. */
  readonly wanted?: string;
}

/** The longest text that can be searched for, in UTF-16 code units. */
const searchTextMax = 200;

const policy = (forms: string) =>
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(styleSheet).digest('base64')}'; img-src data:; base-uri 'none'; form-action ${forms}`;

/** The content security policy of served pages: they load and run nothing, and have only their one style sheet. */
export const servedPolicy = `${policy("'self'")}; frame-ancestors 'none'`;

/** A page that needs nothing else: no script, no network, no other file. */
export function page(parts: PageParts): string {
  const { heading, title = heading, intro, main, footer, root, at } = parts;
  const isReport = root === null || at === '';
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta http-equiv="content-security-policy" content="${policy(root === null ? "'none'" : "'self'")}">
<link rel="icon" href="data:,">
<title>${isReport ? title : `${title} – docmirror`}</title>
<style>${new Html(styleSheet)}</style>
</head>
<body${!isReport && html` class="wide"`}>
<header>
${root !== null && navigation(root, parts)}
<h1>${heading}</h1>
${intro}
</header>
<main>
${main}
</main>
<footer>${footer ?? html`<p>Times are UTC. Endpoints are cut to scheme and host.</p>`}</footer>
</body>
</html>
`;
  return text;
}

function navigation(root: ServedRoot, { at, wanted = '' }: PageParts): Html {
  const lists = browsables.map(({ resource, title }) => [resource, title] as const);
  const pages = [['', 'Report'], ...lists, ['changes', 'Changes']] as const;
  return html`<nav aria-label="Pages">${pages.map(
    ([path, title]) =>
      html`<a href="${root}${path}"${path === at && html` aria-current="page"`}>${title}</a> `,
  )}<form role="search" action="${root}search">
<input aria-label="Search all lists" name="q" type="search" value="${wanted}" placeholder="Title, name, reference" maxlength="${searchTextMax}" autocomplete="off">
<button>Search</button></form></nav>`;
}

/** The address of a record's page, seen from a page at `root`. */
export function recordPath(root: ServedRoot, resource: string, recordId: number): string {
  return `${root}${resource === 'connections' ? '' : 'records/'}${resource}/${recordId}`;
}

/** A text of a record on one line of a page: cut, harmless, and without the secret parts of addresses. */
export function brief(text: string, max = 300): string {
  return cut(printable(withoutAddressSecrets(text)), max);
}

/** The title of a record, or that it has none. */
export function titleOr(title: string | undefined): string {
  return title === undefined || title.trim() === '' ? 'Without a title' : brief(title);
}

/** A point in time for people: `2026-11-20 23:15 UTC`. */
export function moment(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;
}

/** The page that is shown instead of one that can't be served. */
export function refusalPage(heading: string, message: string, root: ServedRoot): string {
  return page({ heading, main: html`<section><p class="empty">${brief(message)}</p></section>`, root });
}
