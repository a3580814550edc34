import { keptResources } from '../../contract/lists.ts';
import { type Browsable, browsables, type ListOrder } from '../../store/read/browsable.ts';
import type { Change } from '../../store/read/history/changes.ts';
import type { connectionUses, FoundRecords } from '../../store/read/records/find.ts';
import type { Choice, Choices, SearchHit } from '../../store/read/records/search.ts';
import { count, counted } from '../numbers.ts';
import { type Html, html, none } from './html.ts';
import { brief, type PageParts, timeTag } from './page.ts';
import { changeList, recordEntry, recordTable } from './records.ts';

type Asked = Readonly<{ query: Readonly<Record<string, string>>; choices: Choices; hasNext: boolean }>;

/** A page of a list or of the connections, with the exports of each of these that is `used`. */
export function listParts(
  asked: Asked,
  browsable: Browsable,
  order: ListOrder,
  found: FoundRecords,
  used: ReturnType<typeof connectionUses>,
): PageParts {
  const { resource, title, sorts, uses, idName } = browsable;
  const usedBy = (id: number, name: (typeof uses)[number]['name']) => {
    const value = used.get(id)?.[name] ?? null;
    if (name !== 'newestExport') return count(value ?? 0);
    return value === null ? 'never' : timeTag(new Date(value).toISOString());
  };
  const further = uses.map(({ name, label }) => [label, (id: number) => usedBy(id, name)] as const);
  const links = [...sorts, ...uses, { name: idName, label: 'Id' }].map(({ name, label }) => {
    const direction = order.sort === name && (order.isDescending ? 'descending' : 'ascending');
    const turned = { sort: name, order: direction === 'ascending' ? 'desc' : 'asc' };
    return [label, { direction, href: queryWith(asked, turned) }] as const;
  });
  return listing(asked, browsable.parameters, resource, {
    heading: title,
    intro: html`<p>${counted(found.count, 'record')}</p>`,
    main: recordTable(title, resource, found.items, new Map(links), new Map(further)),
  });
}

/** A page of the changes, run by run. */
export function changesParts(asked: Asked, names: readonly string[], changes: readonly Change[]): PageParts {
  const runs = [...Map.groupBy(changes, ({ runId }) => runId)].map(([runId, ofRun]) => {
    const at = ofRun[0]?.changedAt;
    return html`<h2><a href="?run=${runId}">Run ${runId}</a> ${at && timeTag(at)}</h2>
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

function queryWith({ query: { page: _, ...kept } }: Asked, changes: object): string {
  return `?${new URLSearchParams({ ...kept, ...changes })}`;
}

function listing(asked: Asked, names: readonly string[], file: string | null, { main, ...head }: PageParts) {
  const pageNo = Number(asked.query.page ?? 1);
  const link = (rel: string, page: number, words: string) =>
    html`<a rel="${rel}" href="${queryWith(asked, { page })}">${words}</a> `;
  const download = file && html`<a href="/${file}.csv${queryWith(asked, {})}" download>Download CSV</a> `;
  // Also on paper, where there is no form.
  const made = fieldsOf(names, asked).filter(({ chosen }) => chosen.value !== '');
  const filters = made.map(({ label, chosen }) => `${label}: ${brief(chosen.label)}`).join(', ');
  return {
    ...head,
    intro: html`${head.intro}${filters && html`<p>Filtered by ${filters}</p>`}${pageNo > 1 && html`<p>Page ${pageNo}</p>`}`,
    main: html`<section>${filterForm(names, asked)}</section>
<section><p class="links">${download}<a href="?">Without a filter</a></p>
${main}
<p class="links">${pageNo > 1 && [link('prev', pageNo - 1, 'Previous page'), `Page ${pageNo} `]}${asked.hasNext && link('next', pageNo + 1, 'Next page')}</p></section>`,
  };
}

/** With more choices than this, a field takes any text and only suggests them. */
const selectMax = 40;
const choiceOf = (value: string, label = value): Choice => ({ value, label, count: null });
const fixedChoices: Readonly<Record<string, readonly Choice[]>> = {
  resource: keptResources.map(each => choiceOf(each)),
  operation: ['insert', 'update', 'removal'].map(each => choiceOf(each)),
};

function fieldsOf(names: readonly string[], { query, choices }: Asked) {
  const shown = names.filter(name => name !== 'sort' && name !== 'order');
  return shown.map(name => {
    const options = fixedChoices[name] ?? choices[name] ?? [];
    const value = query[name] ?? '';
    const chosen = options.find(each => each.value === value || each.label === value) ?? choiceOf(value);
    return { name, label: name === 'q' ? 'Words' : name, options, chosen };
  });
}

function filterForm(names: readonly string[], asked: Asked): Html {
  const kept = ['sort', 'order'].map(
    name => asked.query[name] && html`<input type="hidden" name="${name}" value="${asked.query[name]}">`,
  );
  const fields = fieldsOf(names, asked).map(({ name, label, options, chosen }) => {
    const { value } = chosen;
    const offered = value === '' || options.includes(chosen) ? options : [chosen, ...options];
    if (options.length > 0 && options.length <= selectMax)
      return select(name, label, [choiceOf('', 'All'), ...offered], value);
    // A browser shows no time in a field for dates.
    const isDate = ['from', 'to'].includes(name) && /^([\d-]{10})?$/.test(value);
    return html`<label>${label}<input name="${name}" value="${value}" autocomplete="off"${isDate && html` type="date"`} list="${name}"></label>
<datalist id="${name}">${options.map(each => optionOf({ ...each, value: each.label }, false))}</datalist>`;
  });
  return html`<form class="filters" action="">${kept}${fields}
<button>Filter</button></form>`;
}

function select(name: string, label: string, choices: readonly Choice[], chosen: string): Html {
  const options = choices.map(each => optionOf(each, each.value === chosen));
  return html`<label>${label}<select name="${name}">${options}</select></label>`;
}

function optionOf({ value, label, count: records }: Choice, isChosen: boolean): Html {
  return html`<option value="${value}"${isChosen && html` selected`}>${brief(label, 60)}${records !== null && ` (${count(records)})`}</option>`;
}

/** A form that chooses the period of the served report and its time zone. */
export function periodForm(days: number, timezone: string): Html {
  const lengths = [...new Set([7, 30, 90, 365, days])].map(each => choiceOf(String(each), `${each} days`));
  const names = new Set(['UTC', timezone, ...Intl.supportedValuesOf('timeZone')]);
  const zones = [...names].map(each => choiceOf(each));
  return html`<form class="filters" action="">${select('days', 'Period', lengths, String(days))}${select('timezone', 'Time zone', zones, timezone)}
<button>Show</button></form>`;
}
