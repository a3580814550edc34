import type { ReportData, ReportList } from '../../store/read/report-data.ts';
import { count, duration } from '../numbers.ts';
import { fieldsText } from '../unknown-fields.ts';
import { Clock } from './clock.ts';
import { type Html, html } from './html.ts';
import { type Concern, type Freshness, verdictOf } from './verdict.ts';

/** A point in time for people: `2026-11-20 23:15 UTC`. */
export function moment(iso: string): Html {
  const text = `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
  return html`<time datetime=${iso}>${text}</time>`;
}

/** A card for each list: the number of records, the verdict, and the age. */
export function listCards({ lists, period }: ReportData, freshness: Freshness): Html {
  const clock = new Clock(period.timezone);
  return html`<div class="cards">${lists.map(list => card(list, freshness, clock))}</div>`;
}

function card(list: ReportList, freshness: Freshness, clock: Clock): Html {
  const { tone, text } = verdictOf(list, freshness);
  const { lastCompletedAt, lastFullAt, lastProvenAt, last, unknownFields } = list;
  return html`<article class="card">
    <h3>${list.title}</h3>
    <p class="big">${count(list.recordCount)} <span>${list.recordCount === 1 ? 'record' : 'records'}</span></p>
    <p><span class=${`badge ${tone}`}>${text}</span></p>
    <dl>
      <dt>Last completed</dt>
      <dd>${lastCompletedAt === null ? 'never' : html`${clock.moment(lastCompletedAt)}<small>${ageBefore(lastCompletedAt, freshness.nowMs)}</small>`}</dd>
      <dt>Last full sync</dt>
      <dd>${lastFullAt === null ? 'never' : clock.moment(lastFullAt)}</dd>
      <dt>Last proven</dt>
      <dd>${lastProvenAt === null ? 'never' : clock.moment(lastProvenAt)}</dd>
      <dt>Last run</dt>
      <dd>${last === null ? 'never' : `${last.runId}, ${last.status}`}</dd>
      ${unknownFields.length === 0 ? '' : html`<dt>Without a column</dt><dd>${fieldsText(unknownFields)}</dd>`}
    </dl>
  </article>`;
}

function ageBefore(iso: string, nowMs: number): string {
  const ageMs = nowMs - Date.parse(iso);
  return `${ageMs < 60_000 ? 'just' : duration(ageMs)} before this report`;
}

/** More than this are counted, not shown. */
const concernsMax = 6;
/** More than this are shown on paper in one line each. */
const fewConcernsMax = 3;

/** Everything that asks for attention, with what to do about it; or that nothing does. */
export function attention(concerns: readonly Concern[], data: ReportData): Html {
  if (concerns.length === 0) return allWell(data);
  const number = `${concerns.length} ${concerns.length === 1 ? 'thing needs' : 'things need'} a look`;
  return html`<section class=${concerns.length > fewConcernsMax ? 'attention many' : 'attention'} aria-labelledby="attention">
    <h2 id="attention">${number}</h2>
    ${concerns.slice(0, concernsMax).map(
      ({ tone, title, detail, advice, commands }) => html`<article class=${`concern ${tone}`}>
        <h3>${title}</h3>
        <p>${detail}</p>
        <p>${advice}</p>
        ${commands.map(command => html`<pre tabindex="0"><code>${command}</code></pre>`)}
      </article>`,
    )}
    ${concerns.length > concernsMax && html`<p>And ${concerns.length - concernsMax} more: <code>docmirror status</code> shows them.</p>`}
  </section>`;
}

function allWell({ lists, runCount, exports, period }: ReportData): Html {
  if (runCount === 0 || lists.some(({ last }) => last === null)) {
    return html`<section class="attention"><article class="concern quiet">
      <h2>Not everything has been synced yet</h2>
      <p>Lists that no run has worked on are empty here. To fill the mirror:</p>
      <pre tabindex="0"><code>docmirror sync</code></pre>
    </article></section>`;
  }
  const { lastMs } = exports.all;
  const clock = new Clock(period.timezone);
  const newest =
    lastMs === null
      ? 'There is no export yet.'
      : `The newest export is of ${clock.day(lastMs)} ${clock.time(lastMs)}.`;
  return html`<section class="attention"><p class="concern good">
    <strong>All is well.</strong> ${newest} The last run of each list completed; nothing is withheld, rejected or unproven.
  </p></section>`;
}
