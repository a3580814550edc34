import { printable } from '../../printable.ts';
import type { ReportData, ReportRun } from '../../store/read/report-data.ts';
import { cut } from '../cut.ts';
import { count, counted, duration } from '../numbers.ts';
import { narrowSize, timeBars, wideSize } from './bar-charts.ts';
import { figure } from './chart.ts';
import { Clock } from './clock.ts';
import { type Html, html } from './html.ts';
import { listCards } from './list-sections.ts';
import type { Freshness, Tone } from './verdict.ts';

const tableMax = 4;
const narrowMax = 24;
const messageMax = 240;

const tones: Readonly<Record<string, Tone>> = { completed: 'good', partial: 'warn', failed: 'bad' };

const legendOrder = ['completed', 'partial', 'failed', 'cancelled', 'interrupted'];

/**
 * The completeness of the lists, as runs have proven it; and the history of runs: how long they took and how they
 * ended.
 */
export function runSection(data: ReportData, freshness: Freshness): Html {
  const { runs, runCount, period } = data;
  if (runs.length === 0) {
    return html`<section aria-labelledby="runs">
      <h2 id="runs">Runs and proofs</h2><p class="empty">No run is recorded yet.</p>
    </section>`;
  }
  const clock = new Clock(period.timezone);
  return html`<section aria-labelledby="runs">
    <h2 id="runs">Runs and proofs</h2>
    ${listCards(data, freshness)}
    <div class="runs-drawn">${durations(runs)}${legend(runs)}</div>
    <table class="runs" role="table">
      <caption>${captionOf(runCount)}</caption>
      <thead role="rowgroup"><tr role="row">
        ${['Run', 'Outcome', 'Took', 'Changes'].map(name => html`<th role="columnheader" scope="col">${name}</th>`)}
      </tr></thead>
      <tbody role="rowgroup">${runs.slice(0, tableMax).map(run => runRow(run, clock))}</tbody>
    </table>
  </section>`;
}

function captionOf(runCount: number): string {
  if (runCount === 1) return 'One run';
  const which = runCount <= tableMax ? 'All' : `The newest ${tableMax} of`;
  return `${which} ${counted(runCount, 'run')}, the newest first`;
}

function durations(runs: readonly ReportRun[]): Html {
  const timed = runs.filter(run => run.durationMs !== null).toReversed();
  if (timed.length === 0) return null;
  const times = timed.map(run => run.durationMs ?? 0).sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  const bars = timed.map(run => ({
    key: String(run.id),
    label: String(run.id),
    value: (run.durationMs ?? 0) / 1000,
    before: null,
    isWhole: true,
    fill: `var(--${toneOf(run)})`,
  }));
  const titles = { x: 'run', y: 'seconds' };
  const completed = timed.filter(run => run.status === 'completed').length;
  return figure(
    {
      title: 'How long runs took',
      summary: `Of the newest ${timed.length === 1 ? 'run' : counted(timed.length, 'run')}, ${completed} completed; half took no longer than ${duration(median)}, the longest ${duration(times.at(-1) ?? 0)}.`,
      columns: ['run', 'took', 'outcome'],
      rows: timed.map(run => [String(run.id), duration(run.durationMs ?? 0), run.status]),
    },
    {
      narrow: timeBars(bars.slice(-narrowMax), { ...narrowSize, height: 150, labelsMax: 8 }, titles),
      wide: timeBars(bars, { ...wideSize, height: 150, labelsMax: 20 }, titles),
    },
  );
}

function legend(runs: readonly ReportRun[]): Html {
  const drawn = new Set(runs.filter(run => run.durationMs !== null).map(({ status }) => status));
  const statuses = legendOrder.filter(status => drawn.has(status));
  return html`<ul class="legend" aria-label="What the colours of the runs mean">${statuses.map(
    status => html`<li><span class=${`swatch ${tones[status] ?? 'quiet'}`}></span>${status}</li>`,
  )}</ul>`;
}

function runRow(run: ReportRun, clock: Clock): Html {
  const { id, status, trigger, startedAt, durationMs, inserted, updated, removed, errorMessage } = run;
  const changes = [
    ...(inserted > 0 ? [`+${count(inserted)} new`] : []),
    ...(updated > 0 ? [`${count(updated)} changed`] : []),
    ...(removed > 0 ? [`−${count(removed)} removed`] : []),
  ];
  const message = errorMessage === null ? null : cut(errorMessage, messageMax);
  // The roles are written out because on a phone the style sheet does not lay out the rows as a table.
  return html`<tr role="row">
    <th role="rowheader" scope="row">${id}<small>${clock.moment(startedAt)}, ${trigger}</small></th>
    <td role="cell"><span class=${`badge ${toneOf(run)}`}>${status}</span>${message !== null && html`<small>${printable(message)}</small>`}</td>
    <td role="cell">${durationMs === null ? '–' : duration(durationMs)}</td>
    <td role="cell">${changes.length === 0 ? 'none' : changes.map(change => html`<span class="change">${change}</span>`)}</td>
  </tr>`;
}

function toneOf({ status }: ReportRun): Tone {
  return tones[status] ?? 'quiet';
}
