import type { SearchHit, SearchResult } from '../../store/read/search.ts';
import { count, counted } from '../numbers.ts';
import { type Page, recordPath } from '../report/frame.ts';
import { type Html, html } from '../report/html.ts';
import { servedPage } from './served-page.ts';
import { brief, titleOr } from './words.ts';

const root = './';
/** Hits on one page. */
export const hitsOnPage = 50;
/** The last page of a search that can be opened. */
export const searchPagesMax = 20;

/** The results of a search, as a page; `result` is null if nothing has been searched for yet. */
export function searchPage(wanted: string, pageNo: number, result: SearchResult | null): Page {
  const main = html`<section aria-labelledby="found">
    <h2 id="found">${headingOf(result, pageNo)}</h2>
    <p class="hint">${hintOf(result)}</p>
    <ul class="changes">${result?.hits.map(entry)}</ul>
    ${result !== null && turning(wanted, pageNo, result)}
  </section>`;
  const title = wanted === '' ? undefined : brief(wanted);
  return servedPage({ heading: 'Search', title, main, root, wanted, hasNote: false });
}

function headingOf(result: SearchResult | null, pageNo: number): string {
  if (result === null) return 'Find a record';
  const { hits, hitCount, isWhole } = result;
  const first = (pageNo - 1) * hitsOnPage;
  const told = pageNo === 1 ? count(hits.length) : `${count(first + 1)} to ${count(first + hits.length)}`;
  if (!isWhole) return `${told} of at least ${counted(hitCount, 'record')}`;
  if (hitCount === 0) return 'Nothing found';
  if (hits.length < hitCount) return `${told} of ${counted(hitCount, 'record')}`;
  return hitCount === 1 ? 'One record' : counted(hitCount, 'record');
}

function turning(wanted: string, pageNo: number, { hits, hitCount }: SearchResult): Html {
  const query = (page: number) => `search?${new URLSearchParams({ q: wanted, page: String(page) })}`;
  const hasNext = (pageNo - 1) * hitsOnPage + hits.length < hitCount && pageNo < searchPagesMax;
  return html`<p class="pages">
    ${pageNo > 1 && html`<a rel="prev" href=${query(pageNo - 1)}>Previous page</a>`}
    ${hasNext && html`<a rel="next" href=${query(pageNo + 1)}>Next page</a>`}
  </p>`;
}

function hintOf(result: SearchResult | null): string {
  if (result?.isWhole === false) return 'Not everything was looked at: narrow the words down.';
  if (result === null || result.hits.length === 0)
    return 'All words must be in a title, name or reference of a record, in capital or small letters.';
  return 'Exact references come first, then connections, webhooks, collections and exports, those made last first. Removed records come last.';
}

function entry({ resource, list, recordId, title, details, isRemoved }: SearchHit): Html {
  return html`<li>
    <p class="what"><a href=${recordPath(root, resource, recordId)}>${titleOr(title)}</a>${isRemoved && html` <span class="badge bad">Removed</span>`}</p>
    <p class="details">${[`${list} ${recordId}`, ...details.map(brief)].join(' · ')}</p>
  </li>`;
}
