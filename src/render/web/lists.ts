import { keptResources } from '../../contract/lists.ts';
import { type Browsable, browsables, type ListOrder, parametersOf } from '../../store/read/browsable.ts';
import type { Change } from '../../store/read/history/changes.ts';
import type { FoundRecords } from '../../store/read/records/find.ts';
import type { Choices, SearchHit } from '../../store/read/records/search.ts';
import { counted } from '../numbers.ts';
import { type Html, html, none } from './html.ts';
import { moment, type PageParts } from './page.ts';
import { changeList, recordEntry, recordTable } from './records.ts';

/** What a list is asked for, by the parameters of its address, and what it offers. */
interface Asked {
  readonly query: Readonly<Record<string, string>>;
  readonly choices: Choices;
  readonly hasNext: boolean;
}

/** A page of a list or of the connections. */
export function listParts(
  asked: Asked,
  browsable: Browsable,
  order: ListOrder,
  { items, count }: FoundRecords,
): PageParts {
  const { resource, title, sorts, idName } = browsable;
  const links = [...sorts, { name: idName, label: 'Id' }].map(({ name, label }) => {
    const direction = order.sort === name && (order.isDescending ? 'descending' : 'ascending');
    const turned = { sort: name, order: direction === 'ascending' ? 'desc' : 'asc' };
    return [label, { direction, href: queryWith(asked, turned) }] as const;
  });
  return listing(asked, parametersOf(browsable), resource, {
    heading: title,
    intro: html`<p>${counted(count, 'record')}</p>`,
    main: recordTable(resource, items, new Map(links)),
  });
}

/** A page of the changes, run by run. */
export function changesParts(asked: Asked, names: readonly string[], changes: readonly Change[]): PageParts {
  const runs = [...Map.groupBy(changes, ({ runId }) => runId)].map(([runId, ofRun]) => {
    const at = ofRun[0]?.changedAt;
    return html`<h2><a href="?run=${runId}">Run ${runId}</a> ${at && moment(at)}</h2>
${changeList(ofRun)}`;
  });
  return listing(asked, names, 'changes', {
    heading: 'Changes',
    intro: html`<p><a href="${queryWith(asked, { order: 'desc' })}">Newest first</a> <a href="${queryWith(asked, { order: 'asc' })}">Oldest first</a></p>`,
    main: runs.length === 0 ? none : html`${runs}`,
  });
}

/** The results of a search. */
export function searchParts(asked: Asked, hits: readonly SearchHit[]): PageParts {
  const inLists = browsables.map(
    ({ resource, title }) => html` <a href="/${resource}${queryWith(asked, {})}">${title}</a>`,
  );
  const found = html`<ul>${hits.map(hit => recordEntry(hit, hit.isRemoved ? 'removal' : null))}</ul>
<p class="links">In one list: ${inLists}</p>`;
  return listing(asked, ['q'], null, {
    heading: 'Find a record',
    intro: html`<p>All words must be in a title, name or reference, or in the names of connections. Exact references come first, removed records last.</p>`,
    main: hits.length === 0 ? none : found,
  });
}

/** The query of an address with some parameters changed; the page begins at the start again. */
function queryWith({ query: { page: _, ...kept } }: Asked, changes: object): string {
  return `?${new URLSearchParams({ ...kept, ...changes })}`;
}

/** A list with its filters, the file of all that fits them, and links to the pages before and after. */
function listing(
  asked: Asked,
  names: readonly string[],
  file: string | null,
  { main, ...head }: PageParts,
): PageParts {
  const pageNo = Number(asked.query.page ?? 1);
  const link = (rel: string, page: number, words: string) =>
    html`<a rel="${rel}" href="${queryWith(asked, { page })}">${words}</a> `;
  const download = file && html`<a href="/${file}.csv${queryWith(asked, {})}" download>Download CSV</a> `;
  return {
    ...head,
    main: html`<section>${filterForm(names, asked)}</section>
<section><p class="links">${download}<a href="?">Without a filter</a></p>
${main}
<p class="links">${pageNo > 1 && [link('prev', pageNo - 1, 'Previous page'), `Page ${pageNo} `]}${asked.hasNext && link('next', pageNo + 1, 'Next page')}</p></section>`,
  };
}

/** A form that filters the page it is on; it needs no script. */
function filterForm(names: readonly string[], { query, choices }: Asked): Html {
  const known: Readonly<Record<string, readonly string[]>> = {
    ...choices,
    resource: keptResources,
    operation: ['insert', 'update', 'removal'],
  };
  const fields = names.map(name => {
    const [value, options] = [query[name] ?? '', known[name] ?? []];
    if (name === 'sort' || name === 'order')
      return value && html`<input type="hidden" name="${name}" value="${value}">`;
    const label = name === 'q' ? 'Words' : name;
    if (name === 'resource' || name === 'operation')
      return html`<label>${label}<select name="${name}">${['', ...options].map(
        each => html`<option value="${each}"${each === value && html` selected`}>${each || 'All'}</option>`,
      )}</select></label>`;
    // A browser shows no time in a field for dates.
    const isDate = ['from', 'to'].includes(name) && /^([\d-]{10})?$/.test(value);
    return html`<label>${label}<input name="${name}" value="${value}" autocomplete="off"${isDate && html` type="date"`} list="${name}"></label>
<datalist id="${name}">${options.map(each => html`<option value="${each}"></option>`)}</datalist>`;
  });
  return html`<form class="filters" action="">${fields}
<button>Filter</button></form>`;
}
