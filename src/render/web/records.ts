import { type Browsable, browsableOf, type ListOrder } from '../../contract/browsable.ts';
import type { FoundRecord, FoundRecords } from '../../store/read/browse.ts';
import type { RecordStory, StoryRun, StoryVersion } from '../../store/read/record-story.ts';
import { count, counted } from '../numbers.ts';
import { differencesOf, fieldsOf, type ShownField, versionOnPage, wholeRecord } from '../record-text.ts';
import { type Html, html } from './html.ts';
import { moment, page, recordPath, type ServedRoot, titleOr } from './page.ts';
import { differenceText } from './report.ts';

/** Records that belong to another one. */
interface Belonging extends FoundRecords {
  readonly title: string;
  readonly resource: string;
  /** The address of all of them, seen from the root; null if there is none. */
  readonly path: string | null;
}

/** A record or a connection, with everything that belongs to it. */
export interface RecordView {
  readonly story: RecordStory;
  readonly belonging: readonly Belonging[];
}

/** One record as a page: its fields, the records that belong to it, each version, and what changed between them. */
export function recordPage({ story, belonging }: RecordView): string {
  const { resource, recordId, versions, firstSeen } = story;
  const isConnection = resource === 'connections';
  const root = isConnection ? '../' : '../../';
  const [newest] = versions;
  const { title, texts } = browsableOf(resource);
  const fields = fieldsOf(resource, newest?.record ?? null, wholeRecord);
  const name = fields.find(field => field.name === texts[0]?.name)?.text;
  return page({
    heading: isConnection && !name?.trim() ? `Connection ${recordId}` : titleOr(name),
    intro: html`<p>${title} ${recordId}. ${newest !== undefined && stateOf(newest, firstSeen, root)}</p>`,
    main: html`<section aria-labelledby="says">
<h2 id="says">${newest?.to === null ? 'What it says' : 'What it last said'}</h2>
${fieldList(fields, 'record', root)}</section>
${belonging.map(each => belongingSection(each, root))}
<section aria-labelledby="versions"><h2 id="versions">${isConnection ? 'Names over time' : 'Versions'}</h2>${versionList(story, root)}</section>`,
    root,
    at: resource,
    isWide: true,
  });
}

/** The fields of a record, with links to its connections. */
export function fieldList(fields: readonly ShownField[], className: string, root: ServedRoot): Html {
  return html`<dl class="${className}">${fields.map(
    field => html`<dt>${field.name}</dt><dd>${connected(field, root)}</dd>`,
  )}</dl>`;
}

/** A field's text, with links to its connections. */
function connected({ text, connections }: ShownField, root: ServedRoot): Html | string {
  const [only] = connections;
  if (only === undefined) return text;
  if (connections.length === 1)
    return html`<a href="${recordPath(root, 'connections', only.id)}">${text || only.id}</a>`;
  return html`${connections.map(
    ({ id, text: name }, at) =>
      html`${at > 0 && ', '}<a href="${recordPath(root, 'connections', id)}">${name || id}</a>`,
  )}`;
}

/** The changes of an update, before and after. */
export function differenceList(
  resource: string,
  before: string | null,
  after: string | null,
  bounds = versionOnPage,
): Html {
  return html`<dl class="fields">${differencesOf(resource, before, after, bounds).map(
    each => html`<dt>${each.name}</dt><dd>${differenceText(each)}</dd>`,
  )}</dl>`;
}

function stateOf({ from, to }: StoryVersion, firstSeen: StoryRun, root: ServedRoot): Html {
  if (to !== null)
    return html`<span class="badge bad">Gone</span> since ${runLink(to, root)}. First listed in ${runLink(firstSeen, root)}.`;
  const listed = html`<span class="badge good">Listed</span> since ${runLink(firstSeen, root)}`;
  return from.runId === firstSeen.runId
    ? html`${listed}, and unchanged.`
    : html`${listed}; last changed by ${runLink(from, root)}.`;
}

function belongingSection({ title, resource, items, count: all, path }: Belonging, root: ServedRoot): Html {
  const id = title.toLowerCase().replaceAll(' ', '-');
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${items.length === 0 ? html`<p class="empty">None.</p>` : recordTable(browsableOf(resource), items, { root })}
${all > items.length && path === null && html`<p>And ${count(all - items.length)} more.</p>`}
${all > 0 && path !== null && html`<p><a href="${root}${path}">All ${count(all)}</a></p>`}</section>`;
}

/** Each version, the newest first, and the differences between them. */
function versionList({ resource, recordId, versions, versionCount }: RecordStory, root: ServedRoot): Html {
  const rest = versionCount - versions.length;
  const entries = versions.map((version, at) => {
    const { isFirst, before, record } = version;
    if (before !== null)
      return html`<li><h3>${spanOf(version, root)}</h3>${differenceList(resource, before.record, record)}</li>`;
    const begin = isFirst ? 'New in the list' : 'The version before it is no longer kept';
    return html`<li><h3>${spanOf(version, root)}</h3><p class="details">${begin}${at === 0 && '; what it says is shown above'}</p>
${at > 0 && fieldList(fieldsOf(resource, record, versionOnPage), 'fields', root)}</li>`;
  });
  return html`<p class="hint">${versionCount === 1 ? 'One version' : `${counted(versionCount, 'version')}, the newest first`}</p>
<ol class="changes" reversed>${entries}</ol>
${rest > 0 && html`<p class="hint">The ${counted(rest, 'older one')}: <code>docmirror show ${resource} ${recordId}</code></p>`}`;
}

function spanOf({ from, to, endedBy }: StoryVersion, root: ServedRoot): Html {
  if (to === null) return html`Since ${runLink(from, root)}`;
  return html`From ${runLink(from, root)} until ${runLink(to, root)} ${endedBy === 'removal' ? 'removed' : 'replaced'} it`;
}

/** A run, as a link to its changes. */
function runLink({ runId, at }: StoryRun, root: ServedRoot): Html {
  return html`<a href="${root}changes?run=${runId}">run ${runId}</a>${at !== null && html` (${moment(at)})`}`;
}

const cellBounds = { fieldsMax: 50, textMax: 200, withIds: false };

/** A record of a table; a connection also has its number of exports. */
export interface ListedRecord extends FoundRecord {
  readonly exportCounts?: { readonly exported: number; readonly received: number };
}

/** The links of a table to other pages, and how it is sorted; without an order it can't be sorted. */
interface TableOptions {
  readonly root: ServedRoot;
  readonly order?: ListOrder;
  /** The address of the same list in another order. */
  readonly sorted?: (order: { readonly sort: string; readonly order: 'asc' | 'desc' }) => string;
}

/** Records as a table: first the title, which is a link to the record, then the other fields. */
export function recordTable(
  browsable: Browsable,
  items: readonly ListedRecord[],
  options: TableOptions,
): Html {
  const { resource, texts, filters, sorts, idName } = browsable;
  const first = [texts[0], filters.time].filter(field => field !== undefined);
  const columns = [...first, ...browsable.fields.filter(field => !first.includes(field))];
  const [titleField, ...others] = columns;
  const counts = resource === 'connections' ? (['exported', 'received'] as const) : [];
  const hasId = resource !== 'document-exports';
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${browsable.title}: table"><table class="list"><thead><tr>
${columns.map(field => head(field.name, field.label, sorts.includes(field), options))}
${counts.map(name => html`<th class="number" scope="col">${countLabels[name]}</th>`)}
${hasId && head(idName, 'Id', true, options, html` class="number"`)}
</tr></thead><tbody>${items.map(({ id, record, exportCounts }) => {
    const fields = new Map(fieldsOf(resource, record, cellBounds).map(field => [field.name, field]));
    const title = fields.get(titleField?.name ?? '')?.text;
    const number = (label: string, value: string) =>
      html`<td class="number" data-label="${label}">${value}</td>`;
    return html`
<tr><th scope="row"${longClass(title)}><a href="${recordPath(options.root, resource, id)}">${titleOr(title)}</a></th>
${others.map(({ name, label }) => cell(label, fields.get(name), options.root))}
${counts.map(name => number(countLabels[name], count(exportCounts?.[name] ?? 0)))}
${hasId && number('Id', String(id))}</tr>`;
  })}</tbody></table></div>`;
}

const countLabels = { exported: 'Exported', received: 'Received' } as const;

function head(
  name: string,
  label: string,
  isSorted: boolean,
  { order, sorted }: TableOptions,
  attributes: Html | null = null,
): Html {
  if (!isSorted || sorted === undefined) return html`<th scope="col"${attributes}>${label}</th>`;
  const isThis = order?.sort === name;
  const next = isThis && !order?.isDescending ? 'desc' : 'asc';
  const direction = order?.isDescending ? 'descending' : 'ascending';
  return html`<th scope="col"${attributes}${isThis && html` aria-sort="${direction}"`}><a href="${sorted({ sort: name, order: next })}">${label}</a>${isThis && (order?.isDescending ? ' ↓' : ' ↑')}</th>`;
}

function cell(label: string, field: ShownField | undefined, root: ServedRoot): Html {
  const { text = '' } = field ?? {};
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z$/.exec(text) ?? [];
  const shown =
    day !== undefined
      ? html`<time datetime="${text}">${day} ${time}</time>`
      : field && connected(field, root);
  return html`<td data-label="${label}"${longClass(text)}>${shown}</td>`;
}

/** Only a word that is longer than a column can be broken. */
function longClass(text = ''): Html | null {
  return /\S{25}/.test(text) ? html` class="long"` : null;
}
