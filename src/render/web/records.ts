import { browsableOf } from '../../store/read/browsable.ts';
import type { Change } from '../../store/read/history/changes.ts';
import type { RecordStory, StoryRun } from '../../store/read/history/story.ts';
import type { FoundRecord, FoundRecords } from '../../store/read/records/find.ts';
import { count, counted } from '../numbers.ts';
import { differencesOf, type ShownField, shownFieldsOf, wholeMax } from '../record-text.ts';
import { cellOf, type Html, html, section, table, type Value } from './html.ts';
import { brief, type PageParts, recordLink, timeTag } from './page.ts';

interface Belonging extends FoundRecords {
  readonly title: string;
  readonly resource: string;
  /** The address of all of them; null if there is none. */
  readonly href: string | null;
}

/** The most of a field of one version among many, so that the page stays within a few megabytes. */
const versionMax = 1_000;

/** One record or connection: its fields, the records that belong to it, and what changed between its versions. */
export function recordParts(story: RecordStory, belonging: readonly Belonging[]): PageParts {
  const { resource, recordId, versions, firstSeen } = story;
  const [newest] = versions;
  const fields = shownFieldsOf(resource, newest?.record ?? null, wholeMax);
  const state = newest?.to
    ? html`<span class="badge bad">Gone</span> since ${runLink(newest.to)}.`
    : html`<span class="badge good">Listed</span> since ${runLink(firstSeen)}.`;
  const others = belonging.map(({ title, resource, items, count: all, href }) => {
    const link = href === null ? `${count(all)} in all.` : html`<a href="${href}">All ${count(all)}</a>`;
    const more = all > items.length && html`<p>${link}</p>`;
    const id = title.toLowerCase().replaceAll(' ', '-');
    return section(id, title, recordTable(title, resource, items), more);
  });
  return {
    heading: titleOf(resource, fields),
    intro: html`<p>${browsableOf(resource).title} ${recordId}. ${state}</p>`,
    main: html`${section('says', newest?.to ? 'What it last said' : 'What it says', fieldList(fields))}
${others}
${section('versions', resource === 'connections' ? 'Names over time' : 'Versions', versionList(story))}`,
  };
}

function titleOf(resource: string, fields: readonly ShownField[]): string {
  const text = fields.find(({ name }) => name === browsableOf(resource).texts[0]?.name)?.text ?? '';
  return text.trim() === '' ? 'Without a title' : brief(text);
}

function fieldList(fields: readonly ShownField[]): Html {
  return html`<dl>${fields.map(field => html`<dt>${field.name}</dt><dd>${connected(field)}</dd>`)}</dl>`;
}

function connected({ text, connections }: ShownField): Value {
  if (connections.length === 0) return text;
  const links = connections.map(each => recordLink('connections', each.id, each.text || each.id));
  return links.map((link, at) => [at > 0 && ', ', link]);
}

function shownIn(resource: string, field: ShownField): Value {
  const { name, text, connections } = field;
  if (name === browsableOf(resource).filters.time?.name) return timeTag(text);
  return connections.length > 0 ? connected(field) : cellOf(text);
}

function differenceList(resource: string, before: string | null, after: string | null) {
  const rows = differencesOf(resource, before, after, versionMax).map(each => {
    const [then, now] = [each.before || 'nothing', each.after || 'nothing'];
    return html`<dt>${each.name}</dt><dd><del>${then}</del> → <ins>${now}${each.note}</ins></dd>`;
  });
  return html`<dl>${rows}</dl>`;
}

function versionList({ resource, recordId, versions, versionCount }: RecordStory): Html {
  const rest = versionCount - versions.length;
  const entries = versions.map(({ from, to, endedBy, isFirst, before, record }, at) => {
    const end = to && html` until ${runLink(to)} ${endedBy === 'removal' ? 'removed' : 'replaced'} it`;
    const begin = isFirst ? 'New in the list' : 'The version before it is no longer kept';
    return html`<li><h3>From ${runLink(from)}${end}</h3>${
      before
        ? differenceList(resource, before.record, record)
        : html`<p class="details">${begin}</p>${at > 0 && fieldList(shownFieldsOf(resource, record, versionMax))}`
    }</li>`;
  });
  return html`<p class="hint">${counted(versionCount, 'version')}, the newest first</p>
<ol reversed>${entries}</ol>
${rest > 0 && html`<p class="hint">The ${counted(rest, 'older one')}: <code>docmirror show ${resource} ${recordId}</code></p>`}`;
}

function runLink({ runId, at }: StoryRun): Html {
  return html`<a href="/changes?run=${runId}">run ${runId}</a>${at && html` (${timeTag(at)})`}`;
}

const operations = {
  insert: ['good', 'New'],
  update: ['warn', 'Changed'],
  removal: ['bad', 'Removed'],
} as const;

/** A record or change as an item of a list of several, with what happened to it, if anything, and what was before. */
export function recordEntry(
  { resource, id, record, before }: Pick<FoundRecord, 'resource' | 'id' | 'record'> & Partial<Change>,
  operation: Change['operation'] | null,
): Html {
  const { title, texts } = browsableOf(resource);
  const shown = shownFieldsOf(resource, record);
  const [tone, word] = operation === null ? [] : operations[operation];
  const others = shown.filter(({ name }) => name !== texts[0]?.name && name !== 'id');
  const details = others.map((field, at) => [at > 0 && ' · ', shownIn(resource, field)]);
  return html`
<li><p class="what">${word && html`<span class="badge ${tone}">${word}</span> `}${recordLink(resource, id, titleOf(resource, shown))} <span class="id">${title} ${id}</span></p>
${before ? differenceList(resource, before, record) : html`<p class="details">${details}</p>`}</li>`;
}

/** Changes with links to their records. */
export function changeList(changes: readonly Change[]): Html {
  return html`<ul>${changes.map(change => recordEntry({ ...change, id: change.recordId }, change.operation))}</ul>`;
}

/** Records as a table: first the title, which is a link to the record, then the other fields, further columns by their heads, and the id. */
export function recordTable(
  name: string,
  resource: string,
  items: readonly FoundRecord[],
  sortLinks?: Parameters<typeof table>[4],
  further: ReadonlyMap<string, (id: number) => Value> = new Map(),
): Html {
  const { fields, texts } = browsableOf(resource);
  const [title] = texts;
  const others = fields.filter(field => field !== title);
  const rows = items.map(({ id, record }) => {
    const shown = shownFieldsOf(resource, record);
    const cells = new Map(shown.map(field => [field.name, shownIn(resource, field)]));
    const head = recordLink(resource, id, titleOf(resource, shown));
    const more = [...further.values()].map(textOf => textOf(id));
    return [head, ...others.map(field => cells.get(field.name)), ...more, id];
  });
  const labels = [title?.label ?? '', ...others.map(({ label }) => label), ...further.keys(), 'Id'];
  return table('list', name, labels, rows, sortLinks);
}
