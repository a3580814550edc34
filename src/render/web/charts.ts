import { count } from '../numbers.ts';
import { type Html, html } from './html.ts';

const heightPx = 180;
const topPx = 12;
const labelsMax = 5;

/**
 * Bars side by side in time, each with a mark at the value of the period before. The chart is drawn in percent of its width and in
 * pixels of its height, so its letters have one size on every screen.
 */
export function timeBars(
  bars: readonly { readonly label: string; readonly value: number; readonly before: number }[],
  description: string,
): Html {
  const most = topOf(Math.max(...bars.flatMap(({ value, before }) => [value, before])));
  const y = (value: number) => topPx + heightPx - (heightPx * value) / most;
  // The first eighth of the width is for the numbers of the axis.
  const left = 12.5;
  const slot = (100 - left) / bars.length;
  const every = Math.ceil(bars.length / labelsMax);
  return html`<svg class="chart" role="img" aria-label="${description}">
${[0, most / 2, most].map(value => html`<line x1="${left}%" x2="100%" y1="${y(value)}" y2="${y(value)}"/><text x="${left - 1}%" y="${y(value) + 4}" text-anchor="end">${count(value)}</text>`)}
${bars.map(({ value, before, label }, at) => {
  const x = left + slot * at;
  return html`<rect x="${x + slot / 8}%" width="${slot * 0.75}%" y="${y(value)}" height="${y(0) - y(value)}"/><rect class="mark" x="${x}%" width="${slot}%" y="${y(before) - 1}" height="2"/>${
    at % every === 0 && html`<text x="${x}%" y="${topPx + heightPx + 18}">${label}</text>`
  }`;
})}
</svg>`;
}

/** The least even number with one digit before its zeros that is not less. */
function topOf(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return Math.max(2, [1, 2, 4, 6, 8, 10].map(times => times * power).find(each => each >= value) ?? value);
}
