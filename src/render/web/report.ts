import { browsableOf } from '../../contract/browsable.ts';
import { isFresh } from '../../freshness.ts';
import { stateText } from '../../list-state.ts';
import { printable } from '../../printable.ts';
import type { Numbers, Ranking, ReportData, ReportList } from '../../store/read/report-data.ts';
import { cut } from '../cut.ts';
import { ago, fieldsText, notesOn } from '../list-notes.ts';
import { count, counted } from '../numbers.ts';
import { runCells, runColumns } from '../runs.ts';
import { statusCells, statusColumns } from '../status.ts';
import { timeBars } from './charts.ts';
import { type Html, html, table } from './html.ts';
import { changeList } from './lists.ts';
import { brief, page, type Root } from './page.ts';
import { Zone } from './period.ts';

/** Details of a report besides its data. */
interface ReportOptions {
  readonly nowMs: number;
  /** The age at which a list is too old, in milliseconds; null if none is. */
  readonly maxAgeMs: number | null;
  /** The version of docmirror. */
  readonly version: string;
  /** The path to the pages of the records; null if there are none. */
  readonly root: Root;
  /** The title; null for docmirror's own. */
  readonly title: string | null;
}

const [titleMax, nameMax] = [200, 80];
const runsMax = 10;
const dayMs = 86_400_000;

/** The report as one HTML page. */
export function reportPage(data: ReportData, options: ReportOptions): string {
  const zone = new Zone(data.period.timezone);
  const completedAt = data.lists.map(list => list.lastCompletedAt ?? '').toSorted()[0];
  const from =
    data.baseUrl === null
      ? 'A mirror that has not been synced yet'
      : html`From <strong>${data.baseUrl}</strong>, ${completedAt ? html`last completed ${zone.time(completedAt)}` : 'not completed yet'}`;
  return page({
    heading: cut(printable(options.title ?? 'Document exports'), titleMax),
    intro: html`<p>${zone.span(data.period.span)}</p>
<p>${from}. This report was made ${zone.time(new Date(options.nowMs).toISOString())}.</p>`,
    main: html`${attention(data, options, zone)}
${inNumbers(data, zone)}
${exportSection(data, zone)}
${changeSection(data, options.root)}
${runSection(data, zone)}`,
    footer: html`<p>Made by docmirror ${options.version}. Times are in ${zone.name}. Endpoints are cut to scheme and host.</p>`,
    root: options.root,
    at: '',
  });
}

type Tone = 'good' | 'warn' | 'bad';

/** Everything that asks for attention, or that nothing does. */
function attention(data: ReportData, options: ReportOptions, zone: Zone): Html {
  const { lists: all, lastMs } = data;
  const concerns = [...stopped(data, zone), ...stale(data, options), ...all.flatMap(ofList)];
  const newest =
    lastMs === null ? 'There is no export yet.' : `The newest export is of ${zone.dayAndTime(lastMs)}.`;
  const rest = all.some(({ lastEnded }) => lastEnded === null)
    ? concern(
        'warn',
        'Not everything has been synced yet',
        'Lists that no run has worked on are empty here. To fill the mirror:\n    docmirror sync',
      )
    : concern('good', 'All is well', `${newest} The last run of each list completed and left nothing open.`);
  return html`<section class="plain" aria-labelledby="attention"><h2 id="attention">What needs a look</h2>
${concerns.length > 0 ? concerns : rest}</section>`;
}

/** Something that asks for attention, and what to do about it, in lines of text; those with an indent are commands. */
function concern(tone: Tone, title: string, text: string): Html {
  const { words = [], commands } = Object.groupBy(text.split('\n'), line =>
    line.startsWith(' ') ? 'commands' : 'words',
  );
  return html`<article class="concern ${tone}"><h3>${title}</h3>${words.map(line => html`<p>${line}</p>`)}${
    commands && html`<pre tabindex="0"><code>${commands.map(line => line.trim()).join('\n')}</code></pre>`
  }</article>`;
}

/** The most quiet connections that are named. */
const quietMax = 5;

function stopped({ silence, quiet, knownMs, period }: ReportData, zone: Zone): Html[] {
  if (silence !== null) {
    const until = knownMs === period.span.toMs ? 'the end of the period' : zone.dayAndTime(knownMs);
    const text = `The last one before ${until} is of ${zone.dayAndTime(silence.lastMs)}.
Ask those who run the export service and the systems that documents come from.`;
    return [concern('bad', `No document was exported for ${days(silence.silenceMs)}`, text)];
  }
  if (quiet.length === 0) return [];
  const named = quiet.slice(0, quietMax).map(({ name, role, silenceMs, lastMs }) => {
    return `${brief(name, nameMax)} as ${role} for ${days(silenceMs)}, since ${zone.day(lastMs)}`;
  });
  if (quiet.length > quietMax) named.push(`and ${count(quiet.length - quietMax)} more`);
  const text = `${named.join('; ')}. That is at least five times as long as usual.\nAsk those who run these systems.`;
  return [concern('warn', `${counted(quiet.length, 'connection')} went quiet`, text)];
}

/** The age at which a list is too old if no other is set, in milliseconds. */
const ageMsMax = 2 * dayMs;

function stale({ lists: all }: ReportData, { nowMs, maxAgeMs }: ReportOptions): Html[] {
  const old = all.filter(({ lastEnded, lastCompletedAt: at }) => {
    return (lastEnded !== null || maxAgeMs !== null) && !isFresh(at, nowMs, maxAgeMs ?? ageMsMax);
  });
  if (old.length === 0) return [];
  const ages = old.map(
    list => `${browsableOf(list.resource).title}: last completed ${ago(list.lastCompletedAt, nowMs)}`,
  );
  const text = `${ages.join('; ')}. What the service listed since is not in this report.
See why runs fail, or whether any are started at all:\n    docmirror runs --limit 5`;
  return [concern('bad', `${counted(old.length, 'list')} too old`, text)];
}

function ofList({ resource, lastEnded, rejections }: ReportList): Html[] {
  return (lastEnded === null ? [] : notesOn(lastEnded, rejections)).map(({ text, advice }) => {
    const todo = advice?.replaceAll('{list}', `--resource ${resource}`) ?? '';
    const lines = `Run ${lastEnded?.runId}: ${printable(text)}\n${todo}`;
    return concern(toneOf(lastEnded), `${browsableOf(resource).title}: ${stateText(lastEnded)}`, lines);
  });
}

function toneOf(last: { readonly status: string } | null): Tone {
  if (last?.status === 'failed') return 'bad';
  return last?.status === 'completed' ? 'good' : 'warn';
}

/** `23 days`, whole ones. */
function days(ms: number): string {
  return counted(Math.floor(ms / dayMs), 'day');
}

/** The period in a few numbers, each with that of the period before. */
function inNumbers({ exports, rankings, changes, compared }: ReportData, zone: Zone): Html {
  const later = (operation: string) =>
    changes.find(each => each.resource === 'document-exports' && each.operation === operation)?.count ?? 0;
  const cards = [
    ['Exports', exports.now, beforeText(exports)],
    ['Sources', rankings.source.count.now, beforeText(rankings.source.count)],
    ['Destinations', rankings.destination.count.now, beforeText(rankings.destination.count)],
    ['Corrected later', later('update'), `and ${count(later('removal'))} removed`],
  ] as const;
  return html`<section class="plain" aria-labelledby="numbers">
<h2 id="numbers">In numbers</h2>
<div class="cards">${cards.map(
    ([title, value, note]) =>
      html`<article class="card"><h3>${title}</h3><p class="big">${count(value)}</p><p>${note}</p></article>`,
  )}</div>
<p class="hint">“Before” is ${zone.span(compared)}.</p>
</section>`;
}

/** What a number was before, and its change in percent: `60 before (−35 %)`. */
function beforeText({ now, before }: Numbers): string {
  const percent = Math.round(((now - before) / before) * 100);
  const change =
    before === 0 || percent === 0 ? '' : ` (${percent < 0 ? '−' : '+'}${count(Math.abs(percent))}\u00a0%)`;
  return `${count(before)} before${change}`;
}

function exportSection(data: ReportData, zone: Zone): Html {
  const { exports, undated, rankings } = data;
  const withoutDate =
    undated === 0
      ? ''
      : ` Without a date that can be read, and so in no period: ${counted(undated, 'export')}.`;
  const isEmpty = exports.now === 0 && exports.before === 0;
  return html`<section aria-labelledby="exports"><h2 id="exports">Document exports</h2>${
    isEmpty
      ? html`<p class="empty">There is no export in this period or the one before, so there is nothing to draw.${withoutDate}</p>`
      : html`${overTime(data, withoutDate, zone)}
<div class="pair">
${ranking('By destination', 'destination', rankings.destination)}
${ranking('By source', 'source', rankings.source)}
${ranking('By kind of document', 'kind', rankings.kind)}
</div>`
  }</section>`;
}

function overTime(data: ReportData, withoutDate: string, zone: Zone): Html {
  const { exports, period, knownMs, counts, countsBefore } = data;
  const { unit, span, stretches } = period;
  const open =
    knownMs === span.toMs ? '' : ` The period is not over: this is known up to ${zone.dayAndTime(knownMs)}.`;
  const title = `Exports per ${unit}`;
  const summary = `${counted(exports.now, 'export')} from ${zone.span(span)}.${open}${withoutDate}`;
  const bars = stretches.map((stretch, place) => {
    const [label, name] = zone.stretch(stretch, unit);
    return { label, name, value: counts[place] ?? 0, before: countsBefore[place] ?? 0 };
  });
  const rows = bars.map(({ name, value, before }) => [name, count(value), count(before)]);
  return html`<figure>
<figcaption><h3>${title}</h3><p>${summary} The line at each bar is the ${unit} at the same place in the period before.</p></figcaption>
${timeBars(bars, `${title}. ${summary}`)}
<details><summary>The numbers</summary>${table([unit, 'exports', 'before'], rows, 'numbers')}</details>
</figure>`;
}

/** The most entries of a ranking that are named. */
const rankedMax = 10;

/** The most frequent sources, destinations or kinds as a table, with a bar for each. */
function ranking(title: string, thing: string, { entries, exports, count: all }: Ranking): Html {
  const named = entries.slice(0, rankedMax);
  const most = Math.max(1, ...named.map(({ now }) => now));
  const share = (value: number) => `${((value / Math.max(1, exports.now)) * 100).toFixed(1)}\u00a0%`;
  const row = (name: Html | string, { now, before }: Numbers) => [
    name,
    count(now),
    share(now),
    count(before),
  ];
  const rest = {
    now: named.reduce((left, { now }) => left - now, exports.now),
    before: named.reduce((left, { before }) => left - before, exports.before),
  };
  const rows = named.map(({ label, ...numbers }) =>
    row(
      html`${brief(label, nameMax)}<svg class="bar" aria-hidden="true"><rect width="${(100 * numbers.now) / most}%" height="8" rx="2"/></svg>`,
      numbers,
    ),
  );
  return html`<figure>
<figcaption><h3>${title}</h3><p>${counted(all.now, thing)} in this period, ${beforeText(all)}.</p></figcaption>
${table(
  [thing, 'exports', 'share', 'before'],
  rest.now + rest.before > 0 ? [...rows, row('All others together', rest)] : rows,
  'numbers',
)}
</figure>`;
}

const kinds = { insert: 'New', update: 'Renamed or changed', removal: 'Removed' } as const;
const newKindsMax = 6;

/** Records that are new, renamed, changed or removed, and kinds of document that were exported for the first time. */
function changeSection({ changes, ...data }: ReportData, root: Root): Html {
  const newKinds = data.newKinds.map(name => brief(name, nameMax));
  const ofKinds = Object.entries(kinds).flatMap(([operation, heading]) =>
    changes
      .filter(each => each.operation === operation)
      .map(
        each => html`<h3>${heading}: ${browsableOf(each.resource).title}, ${count(each.count)}</h3>
${changeList(each.changes, root)}`,
      ),
  );
  return html`<section aria-labelledby="changes"><h2 id="changes">What changed</h2>
<p class="hint">${ofKinds.length + newKinds.length === 0 ? 'No run of this period found anything new, changed or removed but exports.' : 'A few of each kind, the newest first; “docmirror changes” shows all.'}</p>
${newKinds.length > 0 && html`<h3>New: kinds of document, ${count(newKinds.length)}</h3><p>${newKinds.slice(0, newKindsMax).join(', ')}</p>`}
${ofKinds}</section>`;
}

/** The state of each list, and the newest runs. */
function runSection({ lists: all, runs }: ReportData, zone: Zone): Html {
  const when = (at: string | null) => (at === null ? 'never' : zone.dayAndTime(Date.parse(at)));
  const badge = (tone: Tone, text = '') => html`<span class="badge ${tone}">${text}</span>`;
  const unknown = all.filter(({ unknownFields }) => unknownFields.length > 0);
  const listRows = all.map(list =>
    statusCells(list, when).map((cell, at) => (at === 2 ? badge(toneOf(list.lastEnded), cell) : cell)),
  );
  const runRows = runs.slice(0, runsMax).map(run => {
    return runCells(run, when).map((cell, at) => (at === 3 ? badge(toneOf(run), cell) : cell));
  });
  return html`<section aria-labelledby="runs"><h2 id="runs">Lists and runs</h2>
${table(statusColumns, listRows, 'list')}
${unknown.map(({ resource, unknownFields }) => html`<p class="hint">${browsableOf(resource).title}: fields without a column: ${fieldsText(unknownFields)}.</p>`)}
<h3>The newest runs</h3>
${runs.length === 0 ? html`<p class="empty">No run is recorded yet.</p>` : table(runColumns, runRows, 'list')}</section>`;
}
