import { lists } from '../../contract/lists.ts';
import { stateText } from '../../list-state.ts';
import { printable } from '../../printable.ts';
import type { Change } from '../../store/read/change-cursor.ts';
import type {
  ChangesOfKind,
  Numbers,
  Ranking,
  ReportData,
  ReportList,
} from '../../store/read/report-data.ts';
import type { RecordedRun } from '../../store/read/run-reader.ts';
import { cut } from '../cut.ts';
import { count, counted, duration } from '../numbers.ts';
import { differencesOf, fieldsOf } from '../record-text.ts';
import { fieldsText } from '../status.ts';
import { figure, rankedBars, timeBars } from './charts.ts';
import { type Concern, concernsOf, type Freshness, isStale, type Tone } from './concerns.ts';
import { type Html, html } from './html.ts';
import { page, type Root, recordPath } from './page.ts';
import { Zone } from './period.ts';

/** Details of a report besides its data: the version of docmirror, and the age that counts as too old. */
interface ReportOptions extends Freshness {
  readonly version: string;
  /** The path to the pages of the records; null if there are none. */
  readonly root: Root;
  /** The title; null for docmirror's own. */
  readonly title: string | null;
}

const titleMax = 200;
/** More concerns than this are counted, not shown. */
const concernsMax = 6;
const barsMax = 6;
const runsMax = 10;

/** The report as one HTML page. */
export function reportPage(data: ReportData, options: ReportOptions): string {
  const zone = new Zone(data.period.timezone);
  const concerns = concernsOf(data, titleOf, options, zone);
  const completedAt = data.lists.map(list => list.lastCompletedAt ?? '').toSorted()[0];
  const from =
    data.baseUrl === null
      ? 'A mirror that has not been synced yet'
      : html`From <strong>${data.baseUrl}</strong>, ${completedAt ? html`last completed ${zone.time(completedAt)}` : 'not completed yet'}`;
  return page({
    heading: cut(printable(options.title ?? 'Document exports'), titleMax),
    intro: html`<p>${zone.span(data.period.span)}</p>
<p>${from}. This report was made ${zone.time(new Date(options.nowMs).toISOString())}.</p>`,
    main: html`${attention(concerns, data, zone)}
${inNumbers(data, zone)}
${exportSection(data, zone)}
${changeSection(data, options.root)}
${runSection(data, options, zone)}
${glossary}`,
    footer: html`<p>Made by docmirror ${options.version}. Times are in ${zone.name}. Endpoints are cut to scheme and host.</p>`,
    root: options.root,
    at: '',
  });
}

function titleOf(resource: string): string {
  return lists.find(list => list.resource === resource)?.title ?? 'Connections';
}

const glossary = html`<section aria-labelledby="words">
<h2 id="words">What the words mean</h2>
<dl>
<dt>proven</dt><dd>The answers of the service show that the copy of the list is complete.</dd>
<dt>incremental</dt><dd>The list was proven before, and its growing end was read since.</dd>
<dt>unproven</dt><dd>The answers do not show that the list is complete. What was seen is stored. Only records that were shown to be gone are removed.</dd>
<dt>withheld</dt><dd>Records that are gone but were kept, because too many went at once, or because a rejected record might be one of them.</dd>
<dt>rejected</dt><dd>Records that could not be read. Their text is in rejected_records.</dd>
</dl>
</section>`;

/** Everything that asks for attention, with what to do about it; or that nothing does. */
function attention(
  concerns: readonly Concern[],
  { lists: all, runCount, lastMs }: ReportData,
  zone: Zone,
): Html {
  if (concerns.length > 0)
    return html`<section class="plain" aria-labelledby="attention">
<h2 id="attention">${concerns.length === 1 ? '1 thing needs' : `${concerns.length} things need`} a look</h2>
${concerns.slice(0, concernsMax).map(concernCard)}
${concerns.length > concernsMax && html`<p>And ${concerns.length - concernsMax} more: <code>docmirror status</code> shows them.</p>`}
</section>`;
  if (runCount === 0 || all.some(({ lastEnded }) => lastEnded === null))
    return html`<section class="plain" aria-labelledby="attention"><article class="concern">
<h2 id="attention">Not everything has been synced yet</h2>
<p>Lists that no run has worked on are empty here. To fill the mirror:</p>
<pre tabindex="0"><code>docmirror sync</code></pre></article></section>`;
  const newest =
    lastMs === null ? 'There is no export yet.' : `The newest export is of ${zone.dayAndTime(lastMs)}.`;
  return html`<section class="plain"><p class="concern good">
<strong>All is well.</strong> ${newest} The last run of each list completed; nothing is withheld, rejected or unproven.</p></section>`;
}

function concernCard({ tone, title, detail, advice }: Concern): Html {
  const [words, command] = advice.split('\n    ');
  return html`<article class="concern ${tone}"><h3>${title}</h3><p>${detail}</p><p>${words}</p>${command !== undefined && html`<pre tabindex="0"><code>${command}</code></pre>`}</article>`;
}

/** The period in a few numbers, each with that of the period before. */
function inNumbers({ exports, rankings, changes, compared }: ReportData, zone: Zone): Html {
  const later = (operation: Change['operation']) =>
    changes.find(each => each.resource === 'document-exports' && each.operation === operation)?.count ?? 0;
  const change = changeText(exports);
  const cards = [
    ['Exports', exports.now, `${change === '' ? '' : `${change}, `}${count(exports.before)} before`],
    ['Sources', rankings.source.count.now, `${count(rankings.source.count.before)} before`],
    ['Destinations', rankings.destination.count.now, `${count(rankings.destination.count.before)} before`],
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

/** The change of a number, in percent: `+12 %`, `−3 %`, `±0 %`; empty if it was 0 before. */
function changeText({ now, before }: Numbers): string {
  if (before === 0) return '';
  const percent = Math.round(((now - before) / before) * 100);
  const sign = percent === 0 ? '±' : percent > 0 ? '+' : '−';
  return `${sign}${count(Math.abs(percent))}\u00a0%`;
}

function exportSection(data: ReportData, zone: Zone): Html {
  const { exports, undated, rankings } = data;
  const [have, are] = undated === 1 ? ['has', 'is'] : ['have', 'are'];
  const withoutDate =
    undated === 0 ? '' : ` ${count(undated)} ${have} no date that can be read, and ${are} in no period.`;
  if (exports.now === 0 && exports.before === 0)
    return html`<section aria-labelledby="exports"><h2 id="exports">Document exports</h2>
<p class="empty">There is no export in this period or the one before, so there is nothing to draw.${withoutDate}</p></section>`;
  return html`<section aria-labelledby="exports"><h2 id="exports">Document exports</h2>
${overTime(data, withoutDate, zone)}
<div class="pair">
${ranking('By destination', 'destination', rankings.destination)}
${ranking('By source', 'source', rankings.source)}
${ranking('By kind of document', 'kind', rankings.kind)}
</div></section>`;
}

function overTime(data: ReportData, withoutDate: string, zone: Zone): Html {
  const { exports, period, knownMs, counts, countsBefore } = data;
  const { unit, span, stretches } = period;
  const at = counts.indexOf(Math.max(...counts));
  const [busiest, most] = [stretches[at], counts[at] ?? 0];
  const peak =
    busiest === undefined || most === 0
      ? ''
      : `; the busiest ${unit} was ${zone.stretch(busiest, unit)} with ${count(most)}`;
  const open =
    knownMs === span.toMs ? '' : ` The period is not over: this is known up to ${zone.dayAndTime(knownMs)}.`;
  const title = `Exports per ${unit}`;
  const summary = `${counted(exports.now, 'export')} from ${zone.span(span)}${peak}.${open}${withoutDate}`;
  const bars = stretches.map((stretch, place) => ({
    label: zone.shortStretch(stretch, unit),
    name: zone.stretch(stretch, unit),
    value: stretch.fromMs >= knownMs ? null : (counts[place] ?? 0),
    before: countsBefore[place] ?? null,
    isWhole: stretch.isWhole && stretch.toMs <= knownMs,
  }));
  const isPart = bars.some(({ isWhole, value }) => !isWhole && value !== null);
  return figure({
    title,
    summary,
    drawing: html`${timeBars(bars, `${title}. ${summary}`)}
<p class="legend">The line at each bar is the ${unit} at the same place in the period before.${isPart && ` A pale bar with a dashed edge is a part of a ${unit}.`}</p>`,
    columns: [unit, 'exports', 'in the period before'],
    rows: bars.map(({ name, value, before, isWhole }) => [
      name,
      value === null ? 'not known yet' : `${count(value)}${isWhole ? '' : ' (part)'}`,
      before === null ? '–' : count(before),
    ]),
  });
}

function ranking(title: string, thing: string, { entries, exports, count: all }: Ranking): Html {
  const named = entries.map(entry => ({ ...entry, label: shortName(entry.label) }));
  const share = (value: number) =>
    exports.now === 0
      ? '0\u00a0%'
      : `${((value / exports.now) * 100).toFixed(value === exports.now ? 0 : 1)}\u00a0%`;
  const bars = named.slice(0, barsMax);
  const restOf = (shown: readonly Numbers[]) => ({
    now: shown.reduce((rest, { now }) => rest - now, exports.now),
    before: shown.reduce((rest, { before }) => rest - before, exports.before),
  });
  const [first] = named;
  const rest = restOf(bars);
  const others = restOf(named);
  const row = ({ label, ...numbers }: Numbers & { label: string }) => [
    label,
    count(numbers.now),
    share(numbers.now),
    count(numbers.before),
    changeText(numbers) || 'new',
  ];
  const hasRest = rest.now + rest.before > 0;
  return figure({
    title,
    summary:
      first === undefined || first.now === 0
        ? 'None in this period.'
        : `${counted(all.now, thing)} in this period; the most frequent is ${first.label} with ${count(first.now)} (${share(first.now)}).`,
    drawing: html`${rankedBars(
      bars.map(({ label, now, before }) => ({
        label,
        value: now,
        before,
        text: `${count(now)} · ${share(now)} · ${changeText({ now, before }) || 'new'}`,
      })),
    )}${hasRest && html`<p class="legend">All others together: ${count(rest.now)} (${share(rest.now)}), ${count(rest.before)} before. No bar is drawn for that.</p>`}`,
    columns: [thing, 'exports', 'share', 'before', 'change'],
    rows: [
      ...named.map(row),
      ...(others.now + others.before > 0 ? [row({ label: 'all others', ...others })] : []),
    ],
  });
}

function shortName(name: string): string {
  return cut(printable(name), 80);
}

const kinds = [
  { heading: 'New', operation: 'insert', tone: 'good' },
  { heading: 'Renamed or changed', operation: 'update', tone: 'warn' },
  { heading: 'Removed', operation: 'removal', tone: 'bad' },
] as const;
const someMax = 6;

/** Records that are new, renamed, changed or removed, and kinds of document that were exported for the first time. */
function changeSection(data: ReportData, root: Root): Html {
  const { newKinds } = data;
  const shown = kinds.flatMap(({ heading, operation, tone }) => {
    const groups = [
      ...data.changes
        .filter(each => each.operation === operation)
        .map(each => someOf(titleOf(each.resource), tone, each.count, entriesOf(each, root))),
      ...(operation === 'insert' && newKinds.length > 0
        ? [someOf('Kinds of document', tone, newKinds.length, newKinds.slice(0, someMax).map(shortName))]
        : []),
    ];
    return groups.length === 0 ? [] : [html`<h3>${heading}</h3>${groups}`];
  });
  return html`<section aria-labelledby="changes"><h2 id="changes">What changed</h2>
${
  shown.length === 0
    ? html`<p class="empty">No run of this period found anything new, changed or removed but exports.</p>`
    : html`<p class="hint">A few of each kind, the newest first. <code>docmirror changes</code> shows all of them.</p>`
}
${shown}</section>`;
}

function someOf(title: string, tone: Tone, all: number, some: readonly (Html | string)[]): Html {
  return html`<h4><span class="badge ${tone}">${count(all)}</span> ${title}</h4>
<ul class="changes">${some.map(each => html`<li>${each}</li>`)}${all > some.length && html`<li>and ${count(all - some.length)} more</li>`}</ul>`;
}

function entriesOf({ resource, changes }: ChangesOfKind, root: Root): Html[] {
  return changes.map(({ operation, recordId, record, before }) => {
    const name = html`${titleOf(resource)} <span class="id">${recordId}</span>`;
    const link = root === null ? name : html`<a href="${recordPath(root, resource, recordId)}">${name}</a>`;
    if (operation !== 'update') {
      const texts = fieldsOf(resource, record).filter(field => field.name !== 'id');
      return html`${link}: ${texts
        .slice(0, 4)
        .map(({ text }) => text)
        .join(' · ')}`;
    }
    if (before === null || record === null) return html`${link}: what it said before is no longer kept`;
    const differences = differencesOf(resource, before, record);
    return html`${link}: ${differences
      .slice(0, 3)
      .map(
        (each, at) =>
          html`${at > 0 && '; '}${each.name !== 'name' && `${each.name}: `}${differenceText(each)}`,
      )}${differences.length > 3 && ' …'}`;
  });
}

/** What a field was before an update, and after it. */
export function differenceText({ before, after, note }: ReturnType<typeof differencesOf>[number]): Html {
  return html`<del>${before || 'nothing'}</del> → <ins>${after || 'nothing'}${note}</ins>`;
}

const tones: Readonly<Record<string, Tone>> = { completed: 'good', partial: 'warn', failed: 'bad' };

/** The state of each list, and the newest runs. */
function runSection({ lists: all, runs, runCount }: ReportData, freshness: Freshness, zone: Zone): Html {
  if (runs.length === 0)
    return html`<section aria-labelledby="runs"><h2 id="runs">Runs and proofs</h2><p class="empty">No run is recorded yet.</p></section>`;
  const shown = runs.slice(0, runsMax);
  const which = runCount <= shown.length ? 'All' : `The newest ${shown.length} of`;
  // The roles are written out because on a phone the style sheet does not lay out the rows as a table.
  return html`<section aria-labelledby="runs"><h2 id="runs">Runs and proofs</h2>
<div class="cards">${all.map(list => listCard(list, freshness, zone))}</div>
<h3>${runCount === 1 ? 'One run' : `${which} ${counted(runCount, 'run')}, the newest first`}</h3>
<table class="runs" role="table"><thead role="rowgroup"><tr role="row">${[
    'Run',
    'Outcome',
    'Took',
    'Changes',
  ].map(name => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${shown.map(run => runRow(run, zone))}</tbody></table></section>`;
}

function listCard(list: ReportList, freshness: Freshness, zone: Zone): Html {
  const { resource, recordCount, lastCompletedAt, lastFullAt, lastEnded: last, unknownFields } = list;
  const stale = isStale(list, freshness);
  const state = stateText(last);
  const tone = stale ? 'bad' : last === null ? 'quiet' : (tones[last.status] ?? 'warn');
  const facts: readonly (readonly [string, Html | string])[] = [
    ['Last completed', lastCompletedAt === null ? 'never' : zone.time(lastCompletedAt)],
    ['Last full sync', lastFullAt === null ? 'never' : zone.time(lastFullAt)],
    ['Last run', last === null ? 'never' : `${last.runId}, ${last.status}`],
    ...(unknownFields.length === 0 ? [] : [['Without a column', fieldsText(unknownFields)] as const]),
  ];
  return html`<article class="card"><h3>${titleOf(resource)}</h3>
<p><span class="big">${count(recordCount)}</span> ${recordCount === 1 ? 'record' : 'records'}</p>
<p><span class="badge ${tone}">${stale ? 'Too old' : state.charAt(0).toUpperCase() + state.slice(1)}</span></p>
<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></article>`;
}

function runRow(run: RecordedRun, zone: Zone): Html {
  const { id, status, trigger, startedAt, completedAt, errorMessage, resources } = run;
  const sum = (name: 'inserted' | 'updated' | 'removed') =>
    resources.reduce((total, list) => total + list[name], 0);
  const changes = [
    [sum('inserted'), 'new'],
    [sum('updated'), 'changed'],
    [sum('removed'), 'removed'],
  ].flatMap(([value, word]) => (value === 0 ? [] : [`${count(Number(value))} ${word}`]));
  const took =
    completedAt === null ? '–' : duration(Math.max(0, Date.parse(completedAt) - Date.parse(startedAt)));
  return html`
<tr role="row"><th role="rowheader" scope="row">${id} <small>${zone.time(startedAt)}, ${trigger}</small></th>
<td role="cell" data-label="Outcome"><span class="badge ${tones[status] ?? 'quiet'}">${status}</span>${errorMessage !== null && html`<small>${cut(printable(errorMessage), 240)}</small>`}</td>
<td role="cell" data-label="Took">${took}</td>
<td role="cell" data-label="Changes">${changes.join(', ') || 'none'}</td></tr>`;
}
