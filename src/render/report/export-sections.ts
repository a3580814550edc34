import { printable } from '../../printable.ts';
import type { ReportData } from '../../store/read/report-data.ts';
import { cut } from '../cut.ts';
import { count, counted } from '../numbers.ts';
import { narrowSize, type RankedBar, rankedBars, timeBars, wideSize } from './bar-charts.ts';
import { figure } from './chart.ts';
import { type Html, html } from './html.ts';
import { type Timeline, timelineOf } from './time-buckets.ts';

const rankedMax = 10;
const nameMax = 80;

/** The document exports: over time, from where to where, and of what kind. */
export function exportSections(data: ReportData): Html {
  const { days, undated } = data.exports;
  if (days.length === 0 && undated === 0) {
    return html`<section aria-labelledby="exports">
      <h2 id="exports">Document exports</h2>
      <p class="empty">The mirror holds no document exports, so there is nothing to draw.</p>
    </section>`;
  }
  return html`<section aria-labelledby="exports">
    <h2 id="exports">Document exports</h2>
    ${overTime(timelineOf(days), undated)}
    <div class="pair">${flows(data)}${kinds(data)}</div>
  </section>`;
}

function overTime(timeline: Timeline, undated: number): Html {
  const { unit, buckets, before } = timeline;
  const [first, last] = [buckets[0], buckets.at(-1)];
  const [busiest] = buckets.toSorted((a, b) => b.count - a.count);
  if (first === undefined || last === undefined || busiest === undefined) {
    return html`<p class="empty">No export has a date that can be read, so none is drawn over time.</p>`;
  }
  const total = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const asides = [
    ...(before > 0 ? [`${count(before)} ${before === 1 ? 'is' : 'are'} older than what is drawn`] : []),
    ...(undated > 0 ? [`${count(undated)} ${undated === 1 ? 'has' : 'have'} no date that can be read`] : []),
  ];
  const summary = [
    `${counted(total, 'export')} from ${first.name} to ${last.name}; the busiest ${unit} was ${busiest.name} with ${count(busiest.count)}.`,
    ...(asides.length > 0 ? [`${asides.join(', ')}.`] : []),
  ].join(' ');
  const bars = buckets.map(bucket => ({
    key: bucket.name,
    label: shortName(bucket.name),
    value: bucket.count,
    before: null,
    isWhole: true,
    fill: 'var(--accent)',
  }));
  const titles = { x: `${unit} of export, in UTC`, y: `exports a ${unit}` };
  return figure(
    {
      title: `Exports per ${unit}`,
      summary,
      columns: [unit, 'exports'],
      rows: buckets.map(bucket => [bucket.name, count(bucket.count)]),
    },
    {
      narrow: timeBars(bars, narrowSize, titles),
      wide: timeBars(bars, wideSize, titles),
    },
  );
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `20 Nov`, `Nov 2026` or `2026`. */
function shortName(name: string): string {
  const [year, month, day] = name.split('-');
  if (month === undefined) return name;
  const monthName = monthNames[Number(month) - 1] ?? month;
  return day === undefined ? `${monthName} ${year}` : `${Number(day)} ${monthName}`;
}

function flows({ exports, connectionNames }: ReportData): Html {
  const name = (id: number | null) =>
    id === null ? 'no connection' : (connectionNames.get(id) ?? `connection ${id}`);
  const all = exports.flows.map(({ sourceId, destinationId, count: value }) => ({
    label: brief(`${name(sourceId)} → ${name(destinationId)}`),
    value,
  }));
  return ranking('From source to destination', 'ways', all, 0, 'var(--accent)');
}

function kinds({ exports }: ReportData): Html {
  const all = exports.kinds.map(({ kind, count: value }) => ({ label: brief(kind ?? 'no kind'), value }));
  return ranking('Kinds of document', 'kinds', all, exports.otherKinds, 'var(--accent-2)');
}

function ranking(
  title: string,
  things: string,
  all: readonly { readonly label: string; readonly value: number }[],
  uncounted: number,
  fill: string,
): Html {
  const total = all.reduce((sum, { value }) => sum + value, uncounted);
  const share = (value: number) =>
    `${count(value)} · ${((value / total) * 100).toFixed(value === total ? 0 : 1)}\u00a0%`;
  const rest = all.slice(rankedMax).reduce((sum, { value }) => sum + value, uncounted);
  const bars: RankedBar[] = all
    .slice(0, rankedMax)
    .map(bar => ({ ...bar, before: null, text: share(bar.value) }));
  if (rest > 0)
    bars.push({
      label: `all ${counted(all.length - rankedMax, 'other')}`,
      value: rest,
      before: null,
      text: share(rest),
    });
  const [first] = all;
  const summary =
    first === undefined
      ? `There are no ${things}.`
      : `${counted(all.length, things.slice(0, -1))}; the most frequent is ${first.label} with ${share(first.value)}.`;
  return figure(
    { title, summary, columns: [title, 'exports and share'], rows: bars.map(bar => [bar.label, bar.text]) },
    { narrow: rankedBars(bars, fill) },
  );
}

function brief(text: string): string {
  return cut(printable(text), nameMax);
}
