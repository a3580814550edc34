import type { Page } from '../report/frame.ts';
import { html } from '../report/html.ts';
import { servedPage } from './served-page.ts';
import { brief } from './words.ts';

/** The page for a browser if the page it asked for can't be served. */
export function refusalPage(message: string, root: './' | '../' | '../../'): Page {
  const main = html`<section><p class="empty">${brief(message)}</p></section>`;
  return servedPage({ heading: "This can't be shown", main, root, hasNote: false });
}
