import { framed, navigation, type Page } from '../report/frame.ts';
import { html } from '../report/html.ts';
import { pageStyles } from './styles.ts';
import { brief } from './words.ts';

/** The page for a browser if the page it asked for can't be served. */
export function refusalPage(message: string, root: './' | '../' | '../../'): Page {
  const body = html`<body>
    <header><h1>This can't be shown</h1>${navigation(root)}</header>
    <main><section><p class="empty">${brief(message)}</p></section></main>
  </body>`;
  return framed("This can't be shown – docmirror", body, root, pageStyles);
}
