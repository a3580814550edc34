import { browsableOf, type ListOrder } from '../../contract/browsable.ts';
import type { FoundRecord, FoundRecords } from '../../store/read/browse.ts';
import type { RecordStory, StoryRun, StoryVersion } from '../../store/read/record-story.ts';
import { count, counted } from '../numbers.ts';
import { briefMax, differencesOf, fieldsOf, type ShownField, wholeMax } from '../record-text.ts';
import { type Html, html, table, type Value } from './html.ts';
import { moment, page, type Root, recordPath, type ServedRoot, titleOr } from './page.ts';

/** Records that belong to another one. */
interface Belonging extends FoundRecords {
  readonly title: string;
  readonly resource: string;
  /** The address of all of them, seen from the root; null if there is none. */
  readonly path: string | null;
}

/** The most of a field of one version among many, so that the page stays within a few megabytes. */
const versionMax = 1_000;

/** One record or connection as a page: its fields, the records that belong to it, and what changed between its versions. */
export function recordPage({
  story,
  belonging,
}: {
  readonly story: RecordStory;
  readonly belonging: readonly Belonging[];
}): string {
  const { resource, recordId, versions, firstSeen } = story;
  const isConnection = resource === 'connections';
  const root = isConnection ? '../' : '../../';
  const [newest] = versions;
  const { title, texts } = browsableOf(resource);
  const fields = fieldsOf(resource, newest?.record ?? null, wholeMax);
  const name = fields.find(field => field.name === texts[0]?.name)?.text;
  return page({
    heading: isConnection && !name?.trim() ? `Connection ${recordId}` : titleOr(name),
    intro: html`<p>${title} ${recordId}. ${newest !== undefined && stateOf(newest, firstSeen, root)}</p>`,
    main: html`<section aria-labelledby="says">
<h2 id="says">${newest?.to === null ? 'What it says' : 'What it last said'}</h2>
${fieldList(fields, root)}</section>
${belonging.map(each => belongingSection(each, root))}
<section aria-labelledby="versions"><h2 id="versions">${isConnection ? 'Names over time' : 'Versions'}</h2>${versionList(story, root)}</section>`,
    root,
    at: resource,
  });
}

function fieldList(fields: readonly ShownField[], root: ServedRoot): Html {
  return html`<dl>${fields.map(field => html`<dt>${field.name}</dt><dd>${connected(field, root)}</dd>`)}</dl>`;
}

/** A field's text, with links to its connections. */
function connected({ text, connections }: ShownField, root: ServedRoot): Value {
  if (connections.length === 0) return text;
  return connections.map(
    (each, at) =>
      html`${at > 0 && ', '}<a href="${recordPath(root, 'connections', each.id)}">${each.text || each.id}</a>`,
  );
}

function differenceList(
  resource: string,
  before: string | null,
  after: string | null,
  textMax: number,
): Html {
  return html`<dl>${differencesOf(resource, before, after, textMax).map(
    each =>
      html`<dt>${each.name}</dt><dd><del>${each.before || 'nothing'}</del> → <ins>${each.after || 'nothing'}${each.note}</ins></dd>`,
  )}</dl>`;
}

/** A record as an item of a list of several: with what was before, if it is an update; null is no badge. */
export function recordEntry(
  entry: Pick<FoundRecord, 'resource' | 'id' | 'record'> & { readonly before?: string | null },
  badge: Html | null,
  root: Root,
): Html {
  const { resource, id, record, before = null } = entry;
  const { title, texts, fields } = browsableOf(resource);
  const shown = fieldsOf(resource, record);
  const name = titleOr(shown.find(field => field.name === texts[0]?.name)?.text);
  const isShown = (field: ShownField) =>
    ![texts[0]?.name, 'id'].includes(field.name) && !fields.find(each => each.name === field.name)?.isSecret;
  const others = shown.filter(isShown).map(({ text }) => text);
  return html`
<li><p class="what">${badge}${root === null ? name : html`<a href="${recordPath(root, resource, id)}">${name}</a>`} <span class="id">${title} ${id}</span></p>
${
  before === null || record === null
    ? html`<p class="details">${others.join(' · ')}</p>`
    : differenceList(resource, before, record, briefMax)
}</li>`;
}

function stateOf({ from, to }: StoryVersion, firstSeen: StoryRun, root: ServedRoot): Html {
  const first = runLink(firstSeen, root);
  if (to !== null)
    return html`<span class="badge bad">Gone</span> since ${runLink(to, root)}. First listed in ${first}.`;
  const change =
    from.runId === firstSeen.runId ? ', and unchanged' : html`; last changed by ${runLink(from, root)}`;
  return html`<span class="badge good">Listed</span> since ${first}${change}.`;
}

function belongingSection({ title, resource, items, count: all, path }: Belonging, root: ServedRoot): Html {
  const id = title.toLowerCase().replaceAll(' ', '-');
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${items.length === 0 ? html`<p class="empty">None.</p>` : recordTable(resource, items, root)}
${all > items.length && path === null && html`<p>And ${count(all - items.length)} more.</p>`}
${all > 0 && path !== null && html`<p><a href="${root}${path}">All ${count(all)}</a></p>`}</section>`;
}

/** Each version, the newest first, and the differences between them. */
function versionList({ resource, recordId, versions, versionCount }: RecordStory, root: ServedRoot): Html {
  const rest = versionCount - versions.length;
  const entries = versions.map((version, at) => {
    const { isFirst, before, record } = version;
    const begin = isFirst ? 'New in the list' : 'The version before it is no longer kept';
    return html`<li><h3>${spanOf(version, root)}</h3>${
      before !== null
        ? differenceList(resource, before.record, record, versionMax)
        : html`<p class="details">${begin}${at === 0 && '; what it says is shown above'}</p>
${at > 0 && fieldList(fieldsOf(resource, record, versionMax), root)}`
    }</li>`;
  });
  return html`<p class="hint">${versionCount === 1 ? 'One version' : `${counted(versionCount, 'version')}, the newest first`}</p>
<ol reversed>${entries}</ol>
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

/** A record of a table; a connection also has its number of exports. */
export interface ListedRecord extends FoundRecord {
  readonly exportCounts?: { readonly exported: number; readonly received: number };
}

/** How a table is sorted, and the address of the same list in another order. */
interface Sorting {
  readonly order: ListOrder;
  readonly sorted: (order: { readonly sort: string; readonly order: 'asc' | 'desc' }) => string;
}

/** Records as a table: first the title, which is a link to the record, then the other fields. */
export function recordTable(
  resource: string,
  items: readonly ListedRecord[],
  root: ServedRoot,
  sorting: Sorting | null = null,
): Html {
  const { texts, filters, sorts, idName, fields: all } = browsableOf(resource);
  const first = [texts[0], filters.time].filter(field => field !== undefined);
  const [titleField, ...others] = [...first, ...all.filter(field => !first.includes(field))];
  const hasCounts = resource === 'connections';
  const hasId = resource !== 'document-exports';
  const rows = items.map(({ id, record, exportCounts: counts }) => {
    const fields = new Map(fieldsOf(resource, record).map(field => [field.name, field]));
    return [
      html`<a href="${recordPath(root, resource, id)}">${titleOr(fields.get(titleField?.name ?? '')?.text)}</a>`,
      ...others.map(({ name }) => cell(fields.get(name), root)),
      ...(hasCounts ? [count(counts?.exported ?? 0), count(counts?.received ?? 0)] : []),
      ...(hasId ? [id] : []),
    ];
  });
  const names = new Map(sorts.map(({ label, name }) => [label, name])).set('Id', idName);
  const sortLinkOf = (label: string) => {
    const sort = names.get(label);
    if (sorting === null || sort === undefined) return null;
    const { isDescending } = sorting.order;
    const isThis = sorting.order.sort === sort;
    const href = sorting.sorted({ sort, order: isThis && !isDescending ? 'desc' : 'asc' });
    return { href, direction: isThis ? (isDescending ? 'descending' : 'ascending') : null } as const;
  };
  const columns = [
    titleField?.label ?? '',
    ...others.map(({ label }) => label),
    ...(hasCounts ? ['Exported', 'Received'] : []),
    ...(hasId ? ['Id'] : []),
  ];
  return table(columns, rows, 'list', sortLinkOf);
}

function cell(field: ShownField | undefined, root: ServedRoot): Value {
  if (field === undefined) return '';
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z$/.exec(field.text) ?? [];
  return day === undefined
    ? connected(field, root)
    : html`<time datetime="${field.text}">${day} ${time}</time>`;
}
