import {
  type Browsable,
  browsableOf,
  browsables,
  type ListOrder,
  parametersOf,
} from '../../contract/browsable.ts';
import type { Choices, FoundRecords, SearchHit } from '../../store/read/browse.ts';
import type { Change } from '../../store/read/change-cursor.ts';
import { counted } from '../numbers.ts';
import { briefRecord, fieldsOf } from '../record-text.ts';
import { type Html, html } from './html.ts';
import { brief, moment, page, recordPath, titleOr } from './page.ts';
import { differenceList, fieldList, type ListedRecord, recordTable } from './records.ts';

/** The parameters of a page, as they are in its address. */
type Parameters = Readonly<Record<string, string>>;

/** The links to the pages before and after; null if there is none. Their values are parameters to change. */
interface Paging {
  readonly before: Parameters | null;
  readonly after: Parameters | null;
}

/** The content of a list page. */
export interface ListView extends FoundRecords, Paging {
  readonly browsable: Browsable;
  readonly items: readonly ListedRecord[];
  readonly order: ListOrder;
  readonly parameters: Parameters;
  readonly choices: Choices;
}

/** A page of a list, with its filters. */
export function listPage(view: ListView): string {
  const { browsable, items, order, parameters, choices } = view;
  const { title, resource } = browsable;
  return page({
    heading: title,
    intro: html`<p>${view.count === 0 ? 'None' : counted(view.count, 'record')}</p>`,
    main: html`<section aria-label="Filter">${filterForm(parametersOf(browsable), parameters, choices)}</section>
<section aria-label="${title}">${linksOf(`${resource}.csv`, parameters)}
${items.length === 0 ? html`<p class="empty">Nothing fits the filter.</p>` : recordTable(browsable, items, { root: './', order, sorted: next => queryWith(parameters, next) })}
${pageLinks(view, parameters)}</section>`,
    root: './',
    at: resource,
    isWide: true,
    wanted: null,
  });
}

/** The content of the page of changes. */
export interface ChangesView extends Paging {
  readonly changes: readonly Change[];
  /** The parameters of the filter. */
  readonly names: readonly string[];
  readonly parameters: Parameters;
  readonly choices: Choices;
}

const operations = {
  insert: ['good', 'New'],
  update: ['warn', 'Changed'],
  removal: ['bad', 'Removed'],
} as const;

/** The changes of runs, run by run, with filters. */
export function changesPage(view: ChangesView): string {
  const { changes, names, parameters, choices } = view;
  const isOldestFirst = parameters.order === 'asc';
  const turned = queryWith(parameters, { sort: 'runId', order: isOldestFirst ? 'desc' : 'asc' });
  const runs = [...Map.groupBy(changes, ({ runId }) => runId)].map(([runId, ofRun]) => {
    const at = ofRun.find(({ changedAt }) => changedAt !== null)?.changedAt ?? null;
    return html`<h3><a href="?run=${runId}">Run ${runId}</a>${at !== null && html` <small>${moment(at)}</small>`}</h3>
<ul class="changes">${ofRun.map(changeEntry)}</ul>`;
  });
  return page({
    heading: parameters.run === undefined ? 'Changes' : `Changes of run ${parameters.run}`,
    main: html`<section aria-label="Filter">${filterForm(names, parameters, choices)}</section>
<section aria-labelledby="found"><h2 id="found">${isOldestFirst ? 'The oldest first' : 'The newest first'}</h2>
${linksOf('changes.csv', parameters)}
<p class="links"><a href="${turned}">${isOldestFirst ? 'Newest first' : 'Oldest first'}</a></p>
${changes.length === 0 && html`<p class="empty">Nothing fits the filter.</p>`}
${runs}
${pageLinks(view, parameters)}</section>`,
    root: './',
    at: 'changes',
    isWide: true,
    wanted: null,
  });
}

function changeEntry({ operation, resource, recordId, record, before }: Change): Html {
  const [tone, text] = operations[operation];
  const { title: list, texts } = browsableOf(resource);
  const fields = fieldsOf(resource, record);
  const titleName = texts[0]?.name;
  const title = fields.find(field => field.name === titleName)?.text;
  return html`
<li><p class="what"><span class="badge ${tone}">${text}</span> <a href="${recordPath('./', resource, recordId)}">${titleOr(title)}</a> <span class="id">${list} ${recordId}</span></p>
${
  before === null || record === null
    ? fieldList(
        fields.filter(field => field.name !== titleName),
        'fields',
        './',
      )
    : differenceList(resource, before, record, briefRecord)
}</li>`;
}

/** The content of the page of a search. */
export interface SearchView {
  /** Empty if nothing has been searched for yet. */
  readonly wanted: string;
  readonly pageNo: number;
  readonly hits: readonly SearchHit[];
  readonly hasNext: boolean;
}

/** The results of a search, as a page. */
export function searchPage({ wanted, pageNo, hits, hasNext }: SearchView): string {
  const all = counted(hits.length, 'record');
  const found = hasNext && pageNo === 1 ? `The first ${all}` : pageNo > 1 ? `Page ${pageNo}` : all;
  const heading = wanted === '' ? 'Find a record' : hits.length === 0 ? 'Nothing found' : found;
  const hint =
    hits.length === 0
      ? 'All words must be in a title, name or reference of a record, or in the names of its connections, in capital or small letters.'
      : 'Exact references come first, then connections, webhooks, collections and exports, those made last first. Removed records come last.';
  const query = (no: number) => `search?${new URLSearchParams({ q: wanted, page: String(no) })}`;
  const inLists = browsables.map(
    ({ resource, title }) =>
      html`<a href="${resource}?${String(new URLSearchParams({ q: wanted }))}">${title}</a> `,
  );
  return page({
    heading: 'Search',
    ...(wanted !== '' && { title: brief(wanted) }),
    main: html`<section aria-labelledby="found"><h2 id="found">${heading}</h2><p class="hint">${hint}</p>
<ul class="changes">${hits.map(hitEntry)}</ul>
<p class="links">${pageNo > 1 && html`<a rel="prev" href="${query(pageNo - 1)}">Previous page</a>`}${hasNext && html`<a rel="next" href="${query(pageNo + 1)}">Next page</a>`}</p>
${(hasNext || pageNo > 1) && html`<p class="links">In one list: ${inLists}</p>`}</section>`,
    root: './',
    at: 'search',
    wanted,
  });
}

function hitEntry({ resource, id, record, isRemoved }: SearchHit): Html {
  const { title, texts, filters } = browsableOf(resource);
  const fields = new Map(fieldsOf(resource, record).map(field => [field.name, field.text]));
  const [first, ...others] = [...texts, ...(filters.time === undefined ? [] : [filters.time])];
  const details = others.flatMap(({ name }) => fields.get(name) ?? []);
  return html`
<li><p class="what"><a href="${recordPath('./', resource, id)}">${titleOr(fields.get(first?.name ?? ''))}</a>${isRemoved && html` <span class="badge bad">Removed</span>`}</p>
<p class="details">${[`${title} ${id}`, ...details].join(' · ')}</p></li>`;
}

/** The query of an address with some parameters changed; the page begins at the start again. */
function queryWith(parameters: Parameters, changes: Parameters): string {
  const { after, before, page: no, ...kept } = parameters;
  return `?${new URLSearchParams({ ...kept, ...changes })}`;
}

function pageLinks({ before, after }: Paging, parameters: Parameters): Html | null {
  if (before === null && after === null) return null;
  return html`<p class="links">${
    before !== null &&
    html`<a href="${queryWith(parameters, {})}">First page</a> <a rel="prev" href="${queryWith(parameters, before)}">Previous page</a> `
  }${after !== null && html`<a rel="next" href="${queryWith(parameters, after)}">Next page</a>`}</p>`;
}

/** The links beside a filter: all filtered rows as a file, and the list without a filter. */
function linksOf(file: string, parameters: Parameters): Html {
  const isFiltered = Object.keys(parameters).some(
    name => !['sort', 'order', 'after', 'before', 'page'].includes(name),
  );
  return html`<p class="links"><a href="${file}${queryWith(parameters, {})}" download>Download CSV</a>${isFiltered && html` <a href="?">Without a filter</a>`}</p>`;
}

const labels: Readonly<Record<string, string>> = {
  source: 'Source',
  destination: 'Destination',
  kind: 'Kind',
  from: 'From',
  to: 'To (inclusive)',
  q: 'Words',
  resource: 'List',
  operation: 'What happened',
  run: 'Run',
};

/** A form that filters the page it is on; it needs no script. */
function filterForm(names: readonly string[], parameters: Parameters, choices: Choices): Html {
  const order = ['sort', 'order'];
  return html`<form class="filters" action="" aria-label="Filter">
${names.filter(name => !order.includes(name)).map(name => html`<label>${labels[name]}${input(name, parameters[name] ?? '', choices)}</label>`)}
${order.map(name => parameters[name] !== undefined && html`<input type="hidden" name="${name}" value="${parameters[name]}">`)}
<button>Filter</button></form>`;
}

function input(name: string, value: string, { connections, kinds }: Choices): Html {
  const text = (more: Html | null = null) =>
    html`<input name="${name}" value="${value}" maxlength="200" autocomplete="off"${more}>`;
  switch (name) {
    case 'source':
    case 'destination':
      if (connections === null) return text(html` placeholder="id or name"`);
      return select(
        name,
        value,
        connections.map(each => [String(each.id), each.name?.trim() || `Connection ${each.id}`]),
      );
    case 'resource':
      return select(
        name,
        value,
        browsables.map(({ resource, title }) => [resource, title]),
      );
    case 'operation':
      return select(
        name,
        value,
        Object.entries(operations).map(([operation, [, word]]) => [operation, word]),
      );
    case 'kind':
      return html`${text(html` list="kinds"`)}<datalist id="kinds">${kinds.map(kind => html`<option value="${kind}"></option>`)}</datalist>`;
    case 'from':
    case 'to':
      // A browser shows no time in a field for dates.
      return text(/^(\d{4}-\d\d-\d\d)?$/.test(value) ? html` type="date"` : null);
    default:
      return text();
  }
}

function select(name: string, value: string, options: readonly (readonly [string, string])[]): Html {
  const isKnown = value === '' || options.some(([each]) => each === value);
  const all = isKnown ? options : [...options, [value, value] as const];
  return html`<select name="${name}"><option value="">All</option>${all.map(
    ([each, label]) =>
      html`<option value="${each}"${each === value && html` selected`}>${label.slice(0, 80)}</option>`,
  )}</select>`;
}
