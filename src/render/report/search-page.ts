import { printable } from '../../printable.ts';
import type { SearchHit, SearchResult } from '../../store/read/search.ts';
import { withoutAddressSecrets } from '../endpoint.ts';
import { count } from '../numbers.ts';
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
  return framed(wanted === '' ? 'Search – docmirror' : `${cut(wanted)} – docmirror`, body, root);
}

function headingOf(result: SearchResult | null): string {
  if (result === null) return 'Find a record';
  const { hits, isWhole } = result;
  if (hits.length === 0) return 'Nothing found';
  if (!isWhole) return `${count(hits.length)} records, and there may be more`;
  return hits.length === 1 ? 'One record' : `${count(hits.length)} records`;
}

function hintOf(result: SearchResult | null): string {
  if (result?.isWhole === false) return 'Not everything was looked at. Another word narrows it down.';
  if (result === null || result.hits.length === 0) {
    return 'All words must stand in a title, name or reference of a record that the service lists. Letters beyond A to Z must match in case.';
  }
  return 'Records that the service lists; of each list, those that the mirror got last come first.';
}

function entry({ resource, list, recordId, title, details }: SearchHit): Html {
  return html`<li>
    <p class="what"><a href=${recordPath(root, resource, recordId)}>${title === null || title === '' ? 'Without a title' : cut(title)}</a></p>
    <p class="details">${[`${list} ${recordId}`, ...details.map(cut)].join(' · ')}</p>
  </li>`;
}

function cut(text: string): string {
  const shown = printable(withoutAddressSecrets(text));
  return shown.length <= textMax ? shown : `${shown.slice(0, textMax - 1)}…`;
}
