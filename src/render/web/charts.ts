import { count } from '../numbers.ts';
import { type Html, html } from './html.ts';

// A chart is drawn in percent of its width and in pixels of its height, so its letters have one size on every screen. A library for
// scales would not be shorter: the only scale is a line from 0.

/** One bar over time. */
export interface TimeBar {
  /** The text under the bar, if there is room, and in the table. */
  readonly label: string;
  readonly name: string;
  /** Null if it is not known yet. */
  readonly value: number | null;
  /** The value of the bar at this place in the period before; null if there is none. */
  readonly before: number | null;
  /** False for a stretch of time that is not over, or cut by an end of the period. */
  readonly isWhole: boolean;
}

const heightPx = 180;
const topPx = 12;
const labelsMax = 12;

/** Bars side by side in time, each with a mark at the value of the period before. */
export function timeBars(bars: readonly TimeBar[], description: string): Html {
  const step = stepOf(Math.max(1, ...bars.flatMap(({ value, before }) => [value ?? 0, before ?? 0])));
  const steps = Math.ceil(Math.max(...bars.flatMap(({ value, before }) => [value ?? 1, before ?? 1])) / step);
  const y = (value: number) => topPx + heightPx - (heightPx * value) / (steps * step);
  // The first tenth of the width is for the numbers of the axis.
  const slot = 90 / bars.length;
  const every = Math.ceil(bars.length / labelsMax);
  const rect = (className: string, at: number, top: number, height: number, width = 0.75) =>
    html`<rect${className !== '' && html` class="${className}"`} x="${n(10 + slot * (at + (1 - width) / 2))}%" width="${n(slot * width)}%" y="${n(top)}" height="${n(height)}"/>`;
  return html`<svg class="chart" role="img" aria-label="${description}">
${Array.from({ length: steps + 1 }, (_, at) => html`<line x1="10%" x2="100%" y1="${n(y(at * step))}" y2="${n(y(at * step))}"/><text x="9%" y="${n(y(at * step) + 4)}" text-anchor="end">${short(at * step)}</text>`)}
${bars.map(({ value, before, isWhole }, at) => [
  value === null
    ? rect('unknown', at, topPx, heightPx)
    : value > 0 && rect(isWhole ? '' : 'part', at, y(value), y(0) - y(value)),
  before !== null && rect('mark', at, y(before) - 1, 2, 0.95),
])}
${bars.map(({ label }, at) => {
  const back = bars.length - 1 - at;
  if (back % every !== 0) return null;
  // On a phone there is room for every third label.
  const isOnWide = (back / every) % 3 !== 0 && bars.length > 5;
  return html`<text${isOnWide && html` class="wide-only"`} x="${n(10 + slot * (at + 0.5))}%" y="${topPx + heightPx + 18}" text-anchor="${back < every / 2 && slot < 8 ? 'end' : 'middle'}">${label}</text>`;
})}
</svg>`;
}

/** The distance of two lines of a scale with at most five: 1, 2 or 5 times a power of ten. */
function stepOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  return Math.max(1, [1, 2, 5, 10].map(times => times * power).find(step => most / step <= 4.01) ?? most);
}

/** `0`, `500`, `20k`, `3M`. */
function short(value: number): string {
  if (value >= 1e6) return `${n(value / 1e6)}M`;
  return value >= 1e4 ? `${n(value / 1e3)}k` : count(value);
}

function n(value: number): number {
  return Math.round(value * 100) / 100;
}

/** One row of a ranking: a bar below its name. */
export interface RankedBar {
  readonly label: string;
  readonly value: number;
  readonly before: number;
  /** The value as it is written beside the name. */
  readonly text: string;
}

/** Bars under each other, with a mark at the value of the period before. */
export function rankedBars(bars: readonly RankedBar[]): Html {
  const most = Math.max(1, ...bars.flatMap(({ value, before }) => [value, before]));
  const percent = (value: number) => n((99 * value) / most);
  return html`<ul class="ranks">${bars.map(
    ({ label, value, before, text }) => html`
<li><span>${label}</span><span>${text}</span><svg class="bar" aria-hidden="true"><rect width="${percent(value)}%" y="2" height="8" rx="2"/><rect class="mark" x="${percent(before)}%" width="2" height="12"/></svg></li>`,
  )}</ul>`;
}

/** The same numbers as a drawing, in words and as a table. */
export function figure({
  title,
  summary,
  drawing,
  columns,
  rows,
}: {
  readonly title: string;
  /** The chart in a sentence or two. */
  readonly summary: string;
  readonly drawing: Html;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}): Html {
  return html`<figure>
<figcaption><h3>${title}</h3><p>${summary}</p></figcaption>
${drawing}
<details><summary>The numbers</summary>
<div class="scroll" role="region" tabindex="0" aria-label="${title}: the numbers">${numberTable(columns, rows)}</div></details>
</figure>`;
}

/** A table of a name and numbers in each row. */
export function numberTable(columns: readonly string[], rows: readonly (readonly string[])[]): Html {
  return html`<table class="numbers">
<thead><tr>${columns.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([name, ...values]) => html`
<tr><th scope="row">${name}</th>${values.map(value => html`<td>${value}</td>`)}</tr>`,
  )}</tbody></table>`;
}
