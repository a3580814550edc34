import { printable } from '../../printable.ts';
import type { ReportData } from '../../store/read/report-data.ts';
import type { Counted, VolumeNumbers } from '../../store/read/volume.ts';
import { cut } from '../cut.ts';
import { count, counted } from '../numbers.ts';
import { narrowSize, rankedBars, timeBars, wideSize } from './bar-charts.ts';
import { figure } from './chart.ts';
import { Clock } from './clock.ts';
import { type Html, html } from './html.ts';
import { changeText } from './number-cards.ts';

const rankedMax = 6;
const tableMax = 50;
const nameMax = 80;

/** The document exports of the period: over time, by destination, by source, by kind and from where to where. */
export function exportSections(data: ReportData): Html {
  const { all, sources, destinations, kinds, routes, undated } = data.exports;
  const connection = (id: number | null) =>
    id === null ? 'no connection' : (data.connectionNames.get(id) ?? `connection ${id}`);
  if (all.now === 0 && all.before === 0) {
    return html`<section aria-labelledby="exports">
      <h2 id="exports">Document exports</h2>
      <p class="empty">There is no export in this period or the one before, so there is nothing to draw.${undatedText(undated)}</p>
    </section>`;
  }
  return html`<section aria-labelledby="exports">
    <h2 id="exports">Document exports</h2>
    ${overTime(data)}
    <div class="pair">
      ${ranking('By destination', 'destination', destinations, connection, 'var(--accent)')}
      ${ranking('By source', 'source', sources, connection, 'var(--accent)')}
    </div>
    <div class="pair">
      ${ranking('By kind of document', 'kind', kinds, kind => kind ?? 'no kind', 'var(--accent-2)')}
      ${ranking('From source to destination', 'way', routes, ({ sourceId, destinationId }) => `${connection(sourceId)} → ${connection(destinationId)}`, 'var(--accent-2)')}
    </div>
  </section>`;
}

function undatedText(undated: number): string {
  if (undated === 0) return '';
  return ` ${count(undated)} ${undated === 1 ? 'has' : 'have'} no date that can be read, and ${undated === 1 ? 'is' : 'are'} in no period.`;
}

function overTime({ exports, period }: ReportData): Html {
  const { counts, countsBefore, knownMs, undated } = exports;
  const { stretches, unit } = period;
  const clock = new Clock(period.timezone);
  const { span } = period;
  const at = counts.indexOf(Math.max(...counts));
  const [busiest, most] = [stretches[at], counts[at] ?? 0];
  const isOver = knownMs === span.toMs;
  const summary = [
    `${counted(exports.all.now, 'export')} from ${clock.span(span)}`,
    ...(busiest !== undefined && most > 0
      ? [`; the busiest ${unit} was ${clock.stretch(busiest, unit)} with ${count(most)}`]
      : []),
    '.',
    isOver
      ? ''
      : ` The period is not over: this is known up to ${clock.day(knownMs)} ${clock.time(knownMs)}.`,
    undatedText(undated),
  ].join('');
  const bars = stretches.map((stretch, place) => ({
    key: String(stretch.fromMs),
    label: clock.shortStretch(stretch, unit),
    value: stretch.fromMs >= knownMs ? null : (counts[place] ?? 0),
    before: countsBefore[place] ?? null,
    isWhole: stretch.isWhole && stretch.toMs <= knownMs,
    fill: 'var(--accent)',
  }));
  const titles = { x: `${unit} of export, ${period.timezone}`, y: `exports per ${unit}` };
  return figure(
    {
      title: `Exports per ${unit}`,
      summary,
      columns: [unit, 'exports', 'in the period before'],
      rows: bars.map(({ value, before, isWhole }, place) => {
        const stretch = stretches[place];
        const name = stretch === undefined ? '' : clock.stretch(stretch, unit);
        const open = value === null ? 'not known yet' : `${count(value)}${isWhole ? '' : ' (part)'}`;
        return [name, open, before === null ? '–' : count(before)];
      }),
    },
    { narrow: timeBars(bars, narrowSize, titles), wide: timeBars(bars, wideSize, titles) },
    legend(unit, bars),
  );
}

function legend(unit: string, bars: readonly { isWhole: boolean; value: number | null }[]): Html {
  return html`<ul class="legend">
    <li><span class="swatch mark"></span>the ${unit} at the same place in the period before</li>
    ${bars.some(({ isWhole, value }) => !isWhole && value !== null) && html`<li><span class="swatch part"></span>part of a ${unit}: not over, or cut by the period</li>`}
    ${bars.some(({ value }) => value === null) && html`<li><span class="swatch unknown"></span>not known yet</li>`}
  </ul>`;
}

function ranking<Key>(
  title: string,
  thing: string,
  { entries, others }: Counted<Key>,
  nameOf: (key: Key) => string,
  fill: string,
): Html {
  const all = entries
    .filter(({ now, before }) => now > 0 || before > 0)
    .map(entry => ({ ...entry, label: cut(printable(nameOf(entry.key)), nameMax) }));
  const total = all.reduce((sum, { now }) => sum + now, others.now);
  const bars = all.slice(0, rankedMax);
  const rest = sumOf(all.slice(rankedMax), others);
  const restCount = all.length - bars.length;
  const [first] = all;
  const summary =
    first === undefined || first.now === 0
      ? 'None in this period.'
      : `${counted(all.filter(({ now }) => now > 0).length, thing)} in this period; the most frequent is ${first.label} with ${share(first.now, total)}.`;
  const shownRows = all.slice(0, tableMax);
  const hidden = sumOf(all.slice(tableMax), others);
  return figure(
    {
      title,
      summary,
      columns: [thing, 'exports', 'share', 'before', 'change'],
      rows: [
        ...shownRows.map(each => rowOf(each.label, each, total)),
        ...(hidden.now + hidden.before > 0 ? [rowOf('all others', hidden, total)] : []),
      ],
    },
    {
      narrow: rankedBars(
        bars.map(({ label, now, before }) => ({
          label,
          value: now,
          before,
          text: shortText(now, before, total),
        })),
        fill,
      ),
    },
    rest.now + rest.before > 0 &&
      html`<p class="rest">${restText(restCount)}: ${share(rest.now, total)}, ${count(rest.before)} before. No bar is drawn for that.</p>`,
  );
}

/** The name of the rest of a ranking; a count of 0 means things that were not counted separately. */
function restText(restCount: number): string {
  if (restCount === 0) return 'All others together';
  return restCount === 1 ? 'One other' : `All ${count(restCount)} others together`;
}

type Numbers = Pick<VolumeNumbers, 'now' | 'before'>;

function sumOf(some: readonly Numbers[], others: Numbers): Numbers {
  return [...some, others].reduce(
    (sum, { now, before }) => ({ now: sum.now + now, before: sum.before + before }),
    {
      now: 0,
      before: 0,
    },
  );
}

function rowOf(label: string, { now, before }: Numbers, total: number): string[] {
  const change = changeText(now, before);
  return [label, count(now), percent(now, total), count(before), change === '' ? 'new' : change];
}

function shortText(now: number, before: number, total: number): string {
  return `${count(now)} · ${percent(now, total)} · ${changeText(now, before) || 'new'}`;
}

function share(value: number, total: number): string {
  return `${count(value)} (${percent(value, total)})`;
}

function percent(value: number, total: number): string {
  return total === 0 ? '0\u00a0%' : `${((value / total) * 100).toFixed(value === total ? 0 : 1)}\u00a0%`;
}
