import { type Browsable, type ListOrder, parametersOf } from '../../contract/browsable.ts';
import { lists } from '../../contract/lists.ts';
import type { BrowsedRecord } from '../../store/read/browse-reader.ts';
import { counted } from '../numbers.ts';
import { fieldsOf, type ShownField } from '../record-text.ts';
import { type Page, recordPath } from '../report/frame.ts';
import { type Html, html } from '../report/html.ts';
import { type Parameters, queryWith } from './address.ts';
import { type Choices, filterForm, linksOf } from './filter-form.ts';
import { servedPage } from './served-page.ts';
import { labelOf, shortTime, titleOr } from './words.ts';

/** A record of a list; a connection also has its number of exports. */
export interface ListedRecord extends BrowsedRecord {
  readonly exportCounts?: { readonly exported: number; readonly received: number };
}

/** The content of a list page. */
export interface ListView {
  readonly browsable: Browsable;
  readonly items: readonly ListedRecord[];
  /** How many records fit the filter, on all pages. */
  readonly count: number;
  readonly order: ListOrder;
  readonly parameters: Parameters;
  readonly choices: Choices;
  /** The start of the page before and of the page after; null if there is none. */
  readonly before: string | null;
  readonly after: string | null;
}

const root = './';
const cellBounds = { fieldsMax: 50, textMax: 200, withIds: false };

/** A page of a list, with its filters. */
export function listPage(view: ListView): Page {
  const { browsable, items, count, parameters, choices } = view;
  const { title, resource } = browsable;
  const main = html`
      <section aria-label="Filter">${filterForm(parametersOf(browsable), parameters, choices)}</section>
      <section aria-label=${title}>
        ${linksOf(`${resource}.csv`, parameters)}
        ${items.length === 0 ? html`<p class="empty">Nothing fits the filter.</p>` : recordTable(browsable, items, view)}
        ${pageLinks(view)}
      </section>`;
  return servedPage({ heading: title, intro: countText(count), main, root, isWide: true });
}

function countText(count: number): string {
  return count === 0 ? 'None' : counted(count, 'record');
}

/** The links to the pages before and after this one. */
export function pageLinks({
  before,
  after,
  parameters,
}: Pick<ListView, 'before' | 'after' | 'parameters'>): Html {
  if (before === null && after === null) return null;
  return html`<p class="pages">
    ${before !== null && html`<a href=${queryWith(parameters, {})}>First page</a> <a rel="prev" href=${queryWith(parameters, { before })}>Previous page</a>`}
    ${after !== null && html`<a rel="next" href=${queryWith(parameters, { after })}>Next page</a>`}
  </p>`;
}

/** The links to other pages, and the sort order; without an order the table can't be sorted. */
interface TableOptions {
  readonly order?: ListOrder;
  readonly parameters?: Parameters;
  readonly root?: './' | '../';
}

/** Records as a table: first the title, which is a link to the record, then the other fields. */
export function recordTable(
  browsable: Browsable,
  items: readonly ListedRecord[],
  options: TableOptions,
): Html {
  const columns = columnsOf(browsable);
  const [titleName = ''] = columns;
  const sorts = browsable.sorts.map(field => field.name);
  return html`<table class="list">
    <thead><tr>${columns.map(name => head(name, sorts.includes(name), options))}${idHead(browsable, options)}</tr></thead>
    <tbody>${items.map(item => row(browsable, titleName, columns.slice(1), item, options.root ?? root))}</tbody>
  </table>`;
}

function idHead({ idName, resource }: Browsable, options: TableOptions): Html {
  const counts =
    resource === 'connections' &&
    ['Exported', 'Received'].map(label => html`<th class="number">${label}</th>`);
  return html`${counts}${resource !== 'document-exports' && head(idName, true, options, 'number')}`;
}

/** The names of the fields in the order of the columns. */
function columnsOf({ resource, texts, filters }: Browsable): string[] {
  const fields = lists.find(list => list.resource === resource)?.fields.map(field => field.name) ?? ['name'];
  const first = [texts[0]?.name, filters.time?.name].filter(name => name !== undefined);
  return [...first, ...fields.filter(name => !first.includes(name))];
}

function head(
  name: string,
  isSorted: boolean,
  { order, parameters = {} }: TableOptions,
  className?: string,
): Html {
  const label = name === '_id' || name === 'id' ? 'Id' : labelOf(name);
  if (!isSorted || order === undefined) return html`<th class=${className}>${label}</th>`;
  const isThis = order.sort === name;
  const next = isThis && !order.isDescending ? 'desc' : 'asc';
  const sort = !isThis ? undefined : order.isDescending ? 'descending' : 'ascending';
  const mark = !isThis ? '' : order.isDescending ? ' ↓' : ' ↑';
  return html`<th class=${className} aria-sort=${sort}><a href=${queryWith(parameters, { sort: name, order: next })}>${label}</a>${mark}</th>`;
}

function row(
  { resource }: Browsable,
  titleName: string,
  columns: readonly string[],
  { id, record, exportCounts }: ListedRecord,
  from: './' | '../',
): Html {
  const fields = new Map(fieldsOf(resource, record, cellBounds).map(each => [each.name, each]));
  const number = (label: string, value: number | string) =>
    html`<td class="number" data-label=${label}>${value}</td>`;
  return html`<tr>
    <th scope="row"><a href=${recordPath(from, resource, id)}>${titleOr(fields.get(titleName)?.text)}</a></th>
    ${columns.map(name => html`<td data-label=${labelOf(name)}>${cell(fields.get(name), from)}</td>`)}
    ${exportCounts !== undefined && [number('Exported', exportCounts.exported), number('Received', exportCounts.received)]}
    ${resource !== 'document-exports' && number('Id', String(id))}
  </tr>`;
}

function cell(field: ShownField | undefined, from: './' | '../'): Html {
  if (field === undefined) return null;
  if (field.connections.length === 0) return shortTime(field.text);
  return field.connections.map(
    ({ id }, at) =>
      html`${at > 0 && ', '}<a href=${recordPath(from, 'connections', id)}>${field.connections.length === 1 ? field.text || id : nameIn(field, at)}</a>`,
  );
}

function nameIn({ connections }: ShownField, at: number): string {
  return connections[at]?.text ?? '';
}
