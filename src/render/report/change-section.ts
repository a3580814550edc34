import { printable } from '../../printable.ts';
import type { Change } from '../../store/read/change.ts';
import type { ReportData } from '../../store/read/report-data.ts';
import type { VolumeNumbers } from '../../store/read/volume.ts';
import { cut } from '../cut.ts';
import { count } from '../numbers.ts';
import { differencesOf, fieldsOf, type ShownDifference, type ShownField } from '../record-text.ts';
import { type Root, recordPath } from './frame.ts';
import { type Html, html } from './html.ts';
import type { Tone } from './verdict.ts';

interface Group {
  readonly id: string;
  readonly heading: string;
  readonly operation: Change['operation'];
  readonly tone: Tone;
}

const groups: readonly Group[] = [
  { id: 'new', heading: 'New', operation: 'insert', tone: 'good' },
  { id: 'renamed', heading: 'Renamed or changed', operation: 'update', tone: 'warn' },
  { id: 'removed', heading: 'Removed', operation: 'removal', tone: 'bad' },
];
const firstsMax = 6;
const onPaperMax = 3;
/** More lines than this are in columns on paper. */
const linesMax = 24;
const detailsMax = 4;
const differencesMax = 3;
const nameMax = 80;

/**
 * The changes in the period: records that are new, renamed, changed or removed, and things that were exported for the
 * first time.
 */
export function changeSection(data: ReportData, root: Root): Html {
  const shown = groups.map(group => groupOf(group, data, root)).filter(each => each !== null);
  return html`<section aria-labelledby="changes">
    <h2 id="changes">What changed</h2>
    ${
      shown.length === 0
        ? html`<p class="empty">No run of this period found anything new, changed or removed but exports.</p>`
        : html`<p class="hint">A few of each kind, the newest first. <code>docmirror changes</code> shows all of them.</p>`
    }
    <div class=${linesOf(data) > linesMax ? 'many' : undefined}>${shown}</div>
  </section>`;
}

/** About how many lines the changes take on paper. */
function linesOf(data: ReportData): number {
  const counts = [...data.changes, ...firstExports(data).map(({ names }) => ({ count: names.length }))];
  return counts.reduce((sum, each) => sum + Math.min(each.count, onPaperMax + 1) + 1, 0);
}

function groupOf({ heading, operation, tone }: Group, data: ReportData, root: Root): Html {
  const titles = new Map(data.lists.map(({ resource, title }) => [resource, title]));
  const changes = data.changes.filter(each => each.operation === operation);
  const firsts = operation === 'insert' ? firstExports(data) : [];
  if (changes.length === 0 && firsts.length === 0) return null;
  return html`<div class="change-group"><h3>${heading}</h3>
    ${changes.map(({ resource, count: all, changes: some }) => {
      const title = titles.get(resource) ?? 'Connections';
      return someOf(
        title,
        tone,
        all,
        some.map(change => entry(change, title, root)),
      );
    })}
    ${firsts.map(({ title, names }) => someOf(title, tone, names.length, names.slice(0, firstsMax)))}
  </div>`;
}

/** A few of many things, on paper fewer of them, and the number of the others. */
function someOf(title: string, tone: Tone, all: number, some: readonly Html[]): Html {
  const more = (shown: number, medium: string) =>
    all > shown && html`<li class=${medium}>and ${count(all - shown)} more</li>`;
  return html`<h4><span class=${`badge ${tone}`}>${count(all)}</span> ${title}</h4>
    <ul class="changes">
      ${some.map((each, at) => html`<li class=${at < onPaperMax ? undefined : 'on-screen'}>${each}</li>`)}
      ${more(some.length, 'on-screen')}${more(Math.min(some.length, onPaperMax), 'on-paper')}
    </ul>`;
}

/** Kinds and routes with their first export in the period; nothing if the list itself begins with the period. */
function firstExports({ exports, connectionNames }: ReportData) {
  const { all, kinds, routes } = exports;
  if (all.before + all.earlier === 0) return [];
  const name = (id: number | null) =>
    id === null ? 'no connection' : (connectionNames.get(id) ?? `connection ${id}`);
  const isFirst = ({ now, before, earlier }: VolumeNumbers) => now > 0 && before + earlier === 0;
  const brief = (text: string) => cut(printable(text), nameMax);
  return [
    {
      title: 'Kinds of document',
      names: kinds.entries.filter(isFirst).map(({ key }) => brief(key ?? 'no kind')),
    },
    {
      title: 'Ways',
      names: routes.entries
        .filter(isFirst)
        .map(({ key }) => brief(`${name(key.sourceId)} → ${name(key.destinationId)}`)),
    },
  ].filter(({ names }) => names.length > 0);
}

function entry({ operation, resource, recordId, record, before }: Change, title: string, root: Root): Html {
  const name = html`${title} <span class="id">${recordId}</span>`;
  const link = root === null ? name : html`<a href=${recordPath(root, resource, recordId)}>${name}</a>`;
  if (operation !== 'update') {
    const texts = fieldsOf(resource, record)
      .filter(field => field.name !== 'id')
      .slice(0, detailsMax)
      .map(({ text }) => text);
    return html`${link}: ${texts.join(' · ')}`;
  }
  if (before === null || record === null) return html`${link}: what it said before is no longer kept`;
  const differences = differencesOf(resource, before, record);
  return html`${link}: ${differences.slice(0, differencesMax).map(difference)}${differences.length > differencesMax && ' …'}`;
}

function difference({ name, before, after, note }: ShownDifference, at: number): Html {
  return html`${at > 0 && '; '}${name !== 'name' && `${name}: `}<del>${before === '' ? 'nothing' : before}</del> <span class="to">→</span> <ins>${after === '' ? 'nothing' : after}${note}</ins>`;
}

/** A record's fields. */
export function fieldList(fields: readonly ShownField[]): Html {
  return html`<dl class="fields">${fields.map(
    ({ name, text }) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`,
  )}</dl>`;
}

/** The changes of an update, before and after. */
export function differenceList(differences: readonly ShownDifference[]): Html {
  return html`<dl class="fields wide-fields">${differences.map(
    ({ name, before, after, note }) => html`<div><dt>${name}</dt>
      <dd><del>${before === '' ? 'nothing' : before}</del> <span class="to">→</span> <ins>${after === '' ? 'nothing' : after}${note}</ins></dd>
    </div>`,
  )}</dl>`;
}
