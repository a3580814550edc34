import { framed, navigation, type Page, type Root } from '../report/frame.ts';
import { type Html, html } from '../report/html.ts';
import { pageStyles } from './styles.ts';

/** The parts in which the pages of `serve` differ. */
interface Content {
  readonly heading: string;
  /** The text below the heading, as a paragraph. */
  readonly intro?: Html;
  readonly main: Html;
  readonly root: Exclude<Root, null>;
  /** True for pages with long tables. */
  readonly isWide?: boolean;
  /** False for pages that show no record. */
  readonly hasNote?: boolean;
  /** The text in the search box. */
  readonly wanted?: string;
  /** The title of the window; the default is the heading. */
  readonly title?: string | undefined;
}

/** A page of `serve`: its heading, the links to all pages, and its content. */
export function servedPage(content: Content): Page {
  const { heading, intro, main, root, isWide = false, hasNote = true, wanted, title = heading } = content;
  const body = html`<body class=${isWide ? 'browse' : undefined}>
    <header><h1>${heading}</h1>${intro !== undefined && html`<p>${intro}</p>`}${navigation(root, wanted)}</header>
    <main>${main}</main>
    ${hasNote && html`<footer><p>Times are UTC. Endpoints are cut to scheme and host.</p></footer>`}
  </body>`;
  return framed(`${title} – docmirror`, body, root, pageStyles);
}
