import { browsableOf } from '../../contract/browsable.ts';
import type { BrowsedRecord } from '../../store/read/browse-reader.ts';
import type { ConnectionStory, MonthOfConnection } from '../../store/read/connection-story.ts';
import { count, counted } from '../numbers.ts';
import { fieldsOf, wholeRecord } from '../record-text.ts';
import type { Page } from '../report/frame.ts';
import { type Html, html } from '../report/html.ts';
import { recordTable } from './list-page.ts';
import { runLink, stateOf, versionList } from './record-page.ts';
import { servedPage } from './served-page.ts';
import { brief } from './words.ts';

/** Records that belong to a connection: the first ones, and the number of all. */
interface Belonging {
  readonly items: readonly BrowsedRecord[];
  readonly count: number;
}

/** The content of the page of a connection. */
export interface ConnectionView extends ConnectionStory {
  readonly exports: Belonging;
  readonly imports: Belonging;
  readonly sourceOf: Belonging;
  readonly destinationOf: Belonging;
  readonly webhooks: Belonging;
}

const root = '../';

/** A connection: its exports and imports over time, its collections and webhooks, its names. */
export function connectionPage(view: ConnectionView): Page {
  const { story, exported, received, months } = view;
  const { recordId, versions, firstSeen } = story;
  const [newest] = versions;
  const name = nameOf(newest?.record ?? null) ?? `Connection ${recordId}`;
  const intro = html`Connection ${recordId}. ${newest === undefined ? null : stateOf(newest, root)}. First seen by ${runLink(firstSeen, root)}.`;
  const main = html`
      <section class="cards" aria-label="Exports">
        <article class="card"><h2>Exported</h2><p class="big">${count(exported)}</p></article>
        <article class="card"><h2>Received</h2><p class="big">${count(received)}</p></article>
        <article class="card"><h2>Webhooks</h2><p class="big">${count(view.webhookCount)}</p></article>
      </section>
      <section aria-labelledby="months"><h2 id="months">By month</h2>${monthTable(months)}</section>
      ${part('Newest exports from here', 'document-exports', view.exports, `document-exports?source=${recordId}`)}
      ${part('Newest exports to here', 'document-exports', view.imports, `document-exports?destination=${recordId}`)}
      ${part('Collections from here', 'collections', view.sourceOf, `collections?source=${recordId}`)}
      ${part('Collections to here', 'collections', view.destinationOf, `collections?destination=${recordId}`)}
      ${part('Webhooks', 'webhooks', view.webhooks, null)}
      <section aria-labelledby="versions"><h2 id="versions">Names over time</h2>${versionList(story, root)}</section>`;
  return servedPage({ heading: name, intro, main, root, isWide: true });
}

function nameOf(record: string | null): string | null {
  const name = fieldsOf('connections', record, wholeRecord).find(field => field.name === 'name')?.text;
  return name === undefined || name.trim() === '' ? null : brief(name);
}

function part(title: string, resource: string, { items, count: all }: Belonging, path: string | null): Html {
  const id = title.toLowerCase().replaceAll(' ', '-');
  return html`<section aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${items.length === 0 ? html`<p class="empty">None.</p>` : recordTable(browsableOf(resource), items, { root })}
    ${all > items.length && path === null && html`<p class="pages">${counted(all - items.length, 'more')}</p>`}
    ${all > 0 && path !== null && html`<p class="pages"><a href=${root + path}>All ${count(all)}</a></p>`}
  </section>`;
}

/** The months with a bar each: the table itself is the chart. */
function monthTable(months: readonly MonthOfConnection[]): Html {
  if (months.length === 0) return html`<p class="empty">No export with a date.</p>`;
  const most = Math.max(1, ...months.flatMap(({ exported, received }) => [exported, received]));
  const bar = (value: number, other: string) =>
    html`<td><svg class=${`bar ${other}`} aria-hidden="true"><rect width=${`${((100 * value) / most).toFixed(1)}%`} height="12" rx="2" /></svg></td>`;
  return html`<table class="numbers months">
    <thead><tr><th>Month</th><th>Exported</th><td></td><th>Received</th><td></td></tr></thead>
    <tbody>${months.map(
      ({ month, exported, received }) =>
        html`<tr><th scope="row">${month}</th><td>${count(exported)}</td>${bar(exported, '')}<td>${count(received)}</td>${bar(received, 'other')}</tr>`,
    )}</tbody>
  </table>`;
}
