import { greatestOf } from '../../contract/extremes.ts';
import { browsableOf } from '../../store/read/browsable.ts';
import { isListFresh, verdictText } from '../../store/read/list-state.ts';
import type { ReportData } from '../../store/read/report-data.ts';
import { acceptedLine } from '../accepted.ts';
import { ago, count, counted } from '../numbers.ts';
import { fieldsText, notesOn } from '../run-summary.ts';
import { runCells, runColumns } from '../runs.ts';
import { statusCells, statusColumns } from '../status.ts';
import { type Html, html, none, section, table } from './html.ts';
import { brief } from './page.ts';
import type { Zone } from './period.ts';
import { changeList } from './records.ts';

/** The most of a note that is shown, in UTF-16 code units. */
const noteMax = 1_000;
const dayMs = 86_400_000;

/** The state of the mirror, and what happened in a period. A list is too old after `maxAgeMs` or, if it is null, after two days. */
export function reportParts(data: ReportData, zone: Zone, maxAgeMs: number | null, title: string | null) {
  return {
    heading: brief(title ?? 'Document exports'),
    intro: html`<p>${zone.spanText(data.period.span)}</p>
<p>${data.baseUrl && `From ${data.baseUrl}. `}This report was made ${zone.text(data.nowMs)}.</p>`,
    main: html`${attention(data, zone, maxAgeMs ?? ageMsMax)}
${inNumbers(data, zone)}
${exportSection(data, zone)}
${changeSection(data)}
${runSection(data, zone)}`,
    footer: `Made by docmirror. Times are in ${zone.name}.`,
  };
}

function attention(data: ReportData, zone: Zone, maxAgeMs: number): Html {
  const { lists, nowMs } = data;
  const ofLists = lists.flatMap(list => concernsOf(list, nowMs, maxAgeMs));
  const concerns = [...quietConnections(data, zone), ...ofLists];
  const rest = lists.some(({ lastEnded }) => lastEnded === null)
    ? concern('warn', 'Not everything has been synced yet', 'To fill the mirror:\n    docmirror sync')
    : concern('good', 'All is well', 'The last run of each list completed and left nothing open.');
  return section('attention', 'What needs a look', concerns.length > 0 ? concerns : rest);
}

/** Something that asks for attention, and what to do about it, in lines of text; those with an indent are commands. */
function concern(tone: string, title: string, text: string): Html {
  const lines = text.split('\n').map(line => {
    return line.startsWith(' ')
      ? html`<pre tabindex="0"><code>${line.trim()}</code></pre>`
      : html`<p>${line}</p>`;
  });
  return html`<article class="concern ${tone}"><h3>${title}</h3>${lines}</article>`;
}

function quietConnections({ quiet }: ReportData, zone: Zone): Html[] {
  if (quiet.length === 0) return [];
  const named = quiet.map(({ name, role, silenceMs, lastMs }) => {
    const days = counted(Math.floor(silenceMs / dayMs), 'day');
    return `${name} as ${role} for ${days}, since ${zone.text(lastMs, 'day')}`;
  });
  const text = `${brief(named.join('; '), noteMax)}. That is at least five times as long as usual.
Ask those who run these systems.`;
  return [concern('warn', `${counted(quiet.length, 'connection')} went quiet`, text)];
}

/** The age at which a list is too old if no other is set, in milliseconds. */
const ageMsMax = 2 * dayMs;

function concernsOf(list: ReportData['lists'][number], nowMs: number, maxAgeMs: number): Html[] {
  const { resource, lastEnded, readSince, rejections } = list;
  if (lastEnded === null) return [];
  const { title } = browsableOf(resource);
  const concerns = notesOn(lastEnded, rejections).map(({ text, advice }) => {
    const todo = advice?.replaceAll('{list}', `--resource ${resource}`) ?? '';
    const tone = lastEnded.status === 'failed' ? 'bad' : 'warn';
    const said = `Run ${lastEnded.runId}: ${brief(text, noteMax)}\n${todo}`;
    return concern(tone, `${title}: ${verdictText(lastEnded)}`, said);
  });
  if (isListFresh(list, nowMs, maxAgeMs)) return concerns;
  const old = `Last completed ${ago(readSince, nowMs)}. See why:\n    docmirror runs --limit 5`;
  return [...concerns, concern('bad', `${title}: too old`, old)];
}

function inNumbers({ exports, gone, rankings, compared }: ReportData, zone: Zone): Html {
  const counts = Object.entries(rankings).map(([name, ranked]) => [`${name}s`, ranked.count] as const);
  const cards = [['Exports', exports] as const, ...counts].map(([title, { now, before }]) => {
    const percent = Math.round(((now - before) / before) * 100);
    const change = before === 0 ? '' : ` (${percent < 0 ? '−' : '+'}${count(Math.abs(percent))}\u00a0%)`;
    return html`<article class="card"><h3>${title}</h3><p class="big">${count(now)}</p><p>${count(before)} before${change}</p></article>`;
  });
  const hint = html`<p class="hint">“Before” is ${zone.spanText(compared)}.</p>`;
  const both = `${counted(gone.now, 'export')} and ${count(gone.before)} of those before`;
  const forgotten = html`<p class="hint">The service no longer lists ${both}. They count all the same.</p>`;
  const isGone = gone.now + gone.before > 0;
  return section('numbers', 'In numbers', html`<div class="cards">${cards}</div>`, hint, isGone && forgotten);
}

function exportSection(data: ReportData, zone: Zone): Html {
  const { undated, rankings, exports } = data;
  const hint = html`<p class="hint">Without a date that can be read, and so in no period: ${counted(undated, 'export')}.</p>`;
  const tables = Object.entries(rankings).map(([name, ranked]) => ranking(name, ranked, exports.now));
  const pair = html`<div class="pair">${tables}</div>`;
  return section('exports', 'Document exports', undated > 0 && hint, overTime(data, zone), pair);
}

/** Exports over time: a bar for each unit, with a mark at the value of the period before, and the same as a table. */
function overTime({ exports, period, knownMs, counts, countsBefore }: ReportData, zone: Zone): Html {
  const { unit, span, stretches } = period;
  const open =
    knownMs === span.toMs ? '' : ` The period is not over: this is known up to ${zone.text(knownMs)}.`;
  const title = `Exports per ${unit}`;
  const summary = `${counted(exports.now, 'export')} from ${zone.spanText(span)}.${open}`;
  const rows = stretches.map(({ fromMs }, at) => {
    return [zone.text(fromMs, unit), count(counts[at] ?? 0), count(countsBefore[at] ?? 0)];
  });
  const half = halfOf(Math.max(greatestOf(counts), greatestOf(countsBefore)));
  const percent = (value = 0) => (50 * value) / half;
  const slot = 100 / stretches.length;
  const bars = stretches.map((stretch, at) => {
    const [height, before] = [percent(counts[at]), percent(countsBefore[at])];
    const [begin, now, then] = rows[at] ?? [];
    const hint = `${unit === 'week' ? zone.spanText(stretch) : begin}: ${now}; before: ${then}`;
    return html`<g><title>${hint}</title><rect fill-opacity="0" x="${slot * at}%" width="${slot}%" height="100%"/>
<rect x="${slot * (at + 0.125)}%" width="${slot * 0.75}%" y="${100 - height}%" height="${height}%"/>
<rect class="mark" x="${slot * at}%" width="${slot}%" y="${0.99 * (100 - before)}%" height="2"/></g>`;
  });
  const scale = [2 * half, half, 0].map(value => html`<span>${count(value)}</span>`);
  return html`<figure>
<figcaption><h3>${title}</h3><p>${summary} The line at each bar is the period before. The highest bar is ${count(greatestOf(counts))}.</p></figcaption>
<div class="plot"><p class="scale" aria-hidden="true">${scale}</p>
<svg class="chart" role="img" aria-label="${title}. ${summary}">${bars}</svg>
<p class="axis"><span>${rows[0]?.[0]}</span><span>${rows.at(-1)?.[0]}</span></p></div>
<details><summary>The numbers</summary>${table('numbers', title, [unit, 'exports', 'before'], rows)}</details>
</figure>`;
}

/** Half of a scale that has room for a number: a round one. */
function halfOf(most: number): number {
  const step = Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, most / 2))) / 2);
  return Math.max(1, Math.ceil(most / 2 / step)) * step;
}

function ranking(name: string, { entries }: ReportData['rankings']['kind'], total: number): Html {
  const rows = entries.map(({ label, now, before }) => {
    const share = `${((now / Math.max(1, total)) * 100).toFixed(1)}%`;
    const bar = html`<svg class="bar" aria-hidden="true"><rect width="${share}" height="8" rx="2"/></svg>`;
    return [html`${brief(label)}${bar}`, count(now), share, count(before)];
  });
  return html`<figure>
<figcaption><h3>By ${name}</h3></figcaption>
${table('numbers', `By ${name}`, [name, 'exports', 'share', 'before'], rows)}
</figure>`;
}

const kinds = { insert: 'New', update: 'Renamed or changed', removal: 'Removed' } as const;

function changeSection({ changes, newKinds }: ReportData): Html {
  const found = Object.entries(kinds).flatMap(([operation, heading]) => {
    const ofKind = changes.filter(each => each.operation === operation);
    return ofKind.map(
      each => html`<h3>${heading}: ${browsableOf(each.resource).title}, ${count(each.count)}</h3>
${changeList(each.changes)}`,
    );
  });
  const kindsText = html`<h3>New: kinds of document, ${count(newKinds.length)}</h3><p>${brief(newKinds.join(', '))}</p>`;
  if (newKinds.length > 0) found.unshift(kindsText);
  const hint = html`<p class="hint">A few of each kind, the newest first; “docmirror changes” shows all.</p>`;
  return section('changes', 'What changed', hint, found.length === 0 ? none : found);
}

function runSection({ lists, runs }: ReportData, zone: Zone): Html {
  const when = (at: string | null) => (at === null ? 'never' : zone.text(Date.parse(at)));
  const ofUnknown = lists.filter(({ unknownFields }) => unknownFields.length > 0);
  const unknown = ofUnknown.map(({ resource, unknownFields }) => {
    const said = `fields without a column: ${fieldsText(unknownFields)}.`;
    return html`<p class="hint">${browsableOf(resource).title}: ${said}</p>`;
  });
  const accepted = lists.flatMap(({ acceptances }) =>
    acceptances.map(each => html`<p class="hint">${brief(acceptedLine(each), noteMax)}</p>`),
  );
  const listRows = lists.map(list => statusCells(list, when));
  const runRows = runs.map(run => runCells(run, when));
  const ofLists = table('list', 'Lists', statusColumns, listRows);
  const ofRuns = html`<h3>The newest runs</h3>${table('list', 'The newest runs', runColumns, runRows)}`;
  return section('runs', 'Lists and runs', ofLists, accepted, unknown, ofRuns);
}
