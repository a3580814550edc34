import { createHash } from 'node:crypto';
import { renderToString } from 'preact-render-to-string';
import { browsables } from '../../contract/browsable.ts';
import { type Html, html } from './html.ts';
import { styleSheet } from './style-sheet.ts';

/** A page, and the content security policy that lets it show itself and nothing else. */
export interface Page {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

/**
 * The path from this page to the other pages of a server. It is relative, so that they are also found behind a proxy:
 * `./` or, from a page one or two folders deep, `../` or `../../`. Null for a page in a file of its own.
 */
export type Root = './' | '../' | '../../' | null;

/** The address of a record's page, seen from a page at `root`. */
export function recordPath(root: Exclude<Root, null>, resource: string, recordId: number): string {
  return resource === 'connections'
    ? `${root}connections/${recordId}`
    : `${root}records/${resource}/${recordId}`;
}

/**
 * The page loads nothing and runs nothing, and has only its one style sheet. A served page can also request its own
 * server.
 */
function policyOf(root: Root, styles: string): string {
  const styleHash = createHash('sha256').update(styles).digest('base64');
  const forms = root === null ? "'none'" : "'self'";
  return `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action ${forms}`;
}

/** A body as one HTML page that needs nothing else: no script, no network, no other file. */
export function framed(title: string, body: Html, root: Root, styles = styleSheet): Page {
  const contentSecurityPolicy = policyOf(root, styles);
  const page = html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="referrer" content="no-referrer" />
      <meta name="robots" content="noindex" />
      <meta http-equiv="content-security-policy" content=${contentSecurityPolicy} />
      <link rel="icon" href="data:," />
      <title>${title}</title>
      <style dangerouslySetInnerHTML=${{ __html: styles }}></style>
    </head>
    ${body}
  </html>`;
  return { html: `<!doctype html>\n${renderToString(page as never)}\n`, contentSecurityPolicy };
}

/** The links to all pages, and a search for any record by its title or reference. */
export function navigation(root: Exclude<Root, null>, wanted = ''): Html {
  return html`<nav aria-label="Pages">
    <a href=${root}>Report</a>
    ${browsables.map(({ resource, title }) => html`<a href=${root + resource}>${title}</a>`)}
    <a href=${`${root}changes`}>Changes</a>
    ${searchForm(root, wanted)}
  </nav>`;
}

/** The search box. */
function searchForm(root: Exclude<Root, null>, wanted = ''): Html {
  return html`<form class="search" role="search" action=${`${root}search`}>
      <label for="q">Titles and references</label>
      <input id="q" name="q" type="search" value=${wanted} maxlength=${searchTextMax} autocomplete="off" />
      <button>Search</button>
    </form>`;
}

/** The longest text that can be searched for, in UTF-16 code units. */
export const searchTextMax = 200;
