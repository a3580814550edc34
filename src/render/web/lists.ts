import { type Browsable, browsables, type ListOrder, parametersOf } from '../../contract/browsable.ts';
import type { Choices, FoundRecords, SearchHit } from '../../store/read/browse.ts';
import type { Change } from '../../store/read/change-cursor.ts';
import { counted } from '../numbers.ts';
import { type Html, html } from './html.ts';
import { brief, moment, page, type Root } from './page.ts';
import { type ListedRecord, recordEntry, recordTable } from './records.ts';

/** The parameters of a page, as they are in its address. */
type Parameters = Readonly<Record<string, string>>;

/** A list as a page: what it is filtered by, and the links to the pages before and after, null if there is none. */
interface ListParts {
  readonly parameters: Parameters;
  readonly choices: Choices;
  /** Parameters to change. */
  readonly before: Parameters | null;
  readonly after: Parameters | null;
}

/** A page of a list, with its filters. */
export function listPage(
  view: ListParts &
    FoundRecords & {
      readonly browsable: Browsable;
      readonly items: readonly ListedRecord[];
      readonly order: ListOrder;
    },
): string {
  const { browsable, items, order, parameters } = view;
  const sorted = (next: Parameters) => queryWith(parameters, next);
  return filteredPage(view, browsable.resource, {
    heading: browsable.title,
    intro: html`<p>${view.count === 0 ? 'None' : counted(view.count, 'record')}</p>`,
    names: parametersOf(browsable),
    found: items.length > 0 && recordTable(browsable.resource, items, './', { order, sorted }),
  });
}

const operations = {
  insert: ['good', 'New'],
  update: ['warn', 'Changed'],
  removal: ['bad', 'Removed'],
} as const;

/** The changes of runs, run by run, with filters. */
export function changesPage(
  view: ListParts & { readonly changes: readonly Change[]; readonly names: readonly string[] },
): string {
  const { changes, names, parameters } = view;
  const isOldestFirst = parameters.order === 'asc';
  const turned = queryWith(parameters, { sort: 'runId', order: isOldestFirst ? 'desc' : 'asc' });
  const runs = [...Map.groupBy(changes, ({ runId }) => runId)].map(([runId, ofRun]) => {
    const at = ofRun[0]?.changedAt;
    return html`<h2><a href="?run=${runId}">Run ${runId}</a> ${at && moment(at)}</h2>
${changeList(ofRun, './')}`;
  });
  return filteredPage(view, 'changes', {
    heading: parameters.run === undefined ? 'Changes' : `Changes of run ${parameters.run}`,
    intro: html`<p>${isOldestFirst ? 'The oldest first' : 'The newest first'}. <a href="${turned}">${isOldestFirst ? 'Newest first' : 'Oldest first'}</a></p>`,
    names,
    found: runs.length > 0 && html`${runs}`,
  });
}

/** Changes with links to their records; null is no place for these. */
export function changeList(changes: readonly Change[], root: Root): Html {
  return html`<ul>${changes.map(change => {
    const [tone, word] = operations[change.operation];
    const badge = html`<span class="badge ${tone}">${word}</span> `;
    return recordEntry({ ...change, id: change.recordId }, badge, root);
  })}</ul>`;
}

/** The results of a search, as a page; `wanted` is empty if nothing has been searched for yet. */
export function searchPage({
  wanted,
  pageNo,
  hits,
  hasNext,
}: {
  readonly wanted: string;
  readonly pageNo: number;
  readonly hits: readonly SearchHit[];
  readonly hasNext: boolean;
}): string {
  const hint =
    'All words must be in a title, name or reference of a record, or in the names of its connections. Exact references come first, and removed records last.';
  const link = (rel: string, no: number, words: string) =>
    html`<a rel="${rel}" href="search?${String(new URLSearchParams({ q: wanted, page: String(no) }))}">${words}</a>`;
  const inLists = browsables.map(
    ({ resource, title }) =>
      html` <a href="${resource}?${String(new URLSearchParams({ q: wanted }))}">${title}</a>`,
  );
  const removed = html`<span class="badge bad">Removed</span> `;
  return page({
    heading: wanted === '' ? 'Find a record' : hits.length === 0 ? 'Nothing found' : 'Search',
    ...(wanted !== '' && { title: brief(wanted) }),
    main: html`<section aria-label="What was found"><p class="hint">${pageNo > 1 && `Page ${pageNo}. `}${hint}</p>
<ul>${hits.map(hit => recordEntry(hit, hit.isRemoved ? removed : null, './'))}</ul>
<p class="links">${pageNo > 1 && link('prev', pageNo - 1, 'Previous page')}${hasNext && link('next', pageNo + 1, 'Next page')}</p>
${wanted !== '' && html`<p class="links">In one list: ${inLists}</p>`}</section>`,
    root: './',
    at: 'search',
    wanted,
  });
}

/** The query of an address with some parameters changed; the page begins at the start again. */
function queryWith(parameters: Parameters, changes: Parameters): string {
  const { after, before, page: no, ...kept } = parameters;
  return `?${new URLSearchParams({ ...kept, ...changes })}`;
}

/** A page with a filter, the file of all that fits it, and the links to other pages of the same. */
function filteredPage(
  { parameters, choices, before, after }: ListParts,
  name: string,
  parts: {
    readonly heading: string;
    readonly intro: Html;
    readonly names: readonly string[];
    readonly found: Html | false;
  },
): string {
  const { heading, intro, names, found } = parts;
  const isFiltered = names.some(each => !isOrder(each) && parameters[each] !== undefined);
  const link = (rel: string, changes: Parameters, words: string) =>
    html`<a rel="${rel}" href="${queryWith(parameters, changes)}">${words}</a> `;
  return page({
    heading,
    intro,
    main: html`<section aria-label="Filter">${filterForm(names, parameters, choices)}</section>
<section aria-label="${heading}"><p class="links"><a href="${name}.csv${queryWith(parameters, {})}" download>Download CSV</a>${isFiltered && html` <a href="?">Without a filter</a>`}</p>
${found || html`<p class="empty">Nothing fits the filter.</p>`}
<p class="links">${before !== null && [link('first', {}, 'First page'), link('prev', before, 'Previous page')]}${after !== null && link('next', after, 'Next page')}</p></section>`,
    root: './',
    at: name,
  });
}

const isOrder = (name: string) => name === 'sort' || name === 'order';

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
  return html`<form class="filters" action="" aria-label="Filter">${names.map(name => {
    const value = parameters[name] ?? '';
    if (!isOrder(name)) return html`<label>${labels[name]}${input(name, value, choices)}</label>`;
    return value !== '' && html`<input type="hidden" name="${name}" value="${value}">`;
  })}
<button>Filter</button></form>`;
}

function input(name: string, value: string, { connections, kinds }: Choices): Html {
  const options: Readonly<Record<string, readonly (readonly [string, string])[] | undefined>> = {
    source: connections?.map(each => [String(each.id), each.name?.trim() || `Connection ${each.id}`]),
    resource: browsables.map(({ resource, title }) => [resource, title]),
    operation: Object.entries(operations).map(([operation, [, word]]) => [operation, word]),
  };
  const some = options[name === 'destination' ? 'source' : name];
  if (some !== undefined) {
    const all = value === '' || some.some(([each]) => each === value) ? some : [...some, [value, value]];
    return html`<select name="${name}"><option value="">All</option>${all.map(
      ([each, label = '']) =>
        html`<option value="${each}"${each === value && html` selected`}>${label.slice(0, 80)}</option>`,
    )}</select>`;
  }
  // A browser shows no time in a field for dates.
  const isDate = (name === 'from' || name === 'to') && /^(\d{4}-\d\d-\d\d)?$/.test(value);
  const isKind = name === 'kind';
  return html`<input name="${name}" value="${value}" maxlength="200" autocomplete="off"${isDate && html` type="date"`}${isKind && html` list="kinds"`}>${
    isKind &&
    html`<datalist id="kinds">${kinds.map(kind => html`<option value="${kind}"></option>`)}</datalist>`
  }`;
}
