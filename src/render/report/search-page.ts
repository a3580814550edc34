import { printable } from '../../printable.ts';
import type { SearchHit, SearchResult } from '../../store/read/search.ts';
import { cut } from '../cut.ts';
import { withoutAddressSecrets } from '../endpoint.ts';
import { count, counted } from '../numbers.ts';
import { framed, navigation, type Page, recordPath } from './frame.ts';
import { type Html, html } from './html.ts';

const root = './';
const textMax = 300;

/** What a search found, as a page; `result` is null where nothing has been looked for yet. */
export function searchPage(wanted: string, result: SearchResult | null): Page {
  const body = html`<body>
    <header><h1>Search</h1>${navigation(root, wanted)}</header>
    <main>
      <section aria-labelledby="found">
        <h2 id="found">${headingOf(result)}</h2>
        <p class="hint">${hintOf(result)}</p>
        <ul class="changes">${result?.hits.map(entry)}</ul>
      </section>
    </main>
  </body>`;
  return framed(wanted === '' ? 'Search – docmirror' : `${brief(wanted)} – docmirror`, body, root);
}

function headingOf(result: SearchResult | null): string {
  if (result === null) return 'Find a record';
  const { hits, hitCount, isWhole } = result;
  if (!isWhole) return `${count(hits.length)} of at least ${counted(hitCount, 'record')}`;
  if (hits.length < hitCount) return `${count(hits.length)} of ${counted(hitCount, 'record')}`;
  if (hitCount === 0) return 'Nothing found';
  return hitCount === 1 ? 'One record' : counted(hitCount, 'record');
}

function hintOf(result: SearchResult | null): string {
  if (result?.isWhole === false) return 'Not everything was looked at: narrow the words down.';
  if (result === null || result.hits.length === 0) {
    return 'All words must be in a title, name or reference of a record that the service lists. Letters beyond A to Z must match in case.';
  }
  const order = 'the exports made last come first, and of the other lists what the mirror got last';
  const isCut = result.hits.length < result.hitCount;
  return `Records that the service lists; ${order}.${isCut ? ' To see the others, narrow the words down.' : ''}`;
}

function entry({ resource, list, recordId, title, details }: SearchHit): Html {
  return html`<li>
    <p class="what"><a href=${recordPath(root, resource, recordId)}>${title === null || title === '' ? 'Without a title' : brief(title)}</a></p>
    <p class="details">${[`${list} ${recordId}`, ...details.map(brief)].join(' · ')}</p>
  </li>`;
}

function brief(text: string): string {
  return cut(printable(withoutAddressSecrets(text)), textMax);
}
