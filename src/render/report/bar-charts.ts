import { scaleBand, scaleLinear } from 'd3-scale';
import { cutToColumns } from '../cut.ts';
import { count } from '../numbers.ts';
import { type Html, html } from './html.ts';

/** One bar over time: its place on the axis and its value. */
export interface TimeBar {
  /** A name of the bar, different from the others. */
  readonly key: string;
  /** The text under the bar, if there is room. */
  readonly label: string;
  /** Null if it is not known yet. */
  readonly value: number | null;
  /** The value of the bar at this place in the period before; null if there is none. */
  readonly before: number | null;
  /** False for a stretch of time that is not over, or cut by an end of the period. */
  readonly isWhole: boolean;
  readonly fill: string;
}

/** The size of a chart and of its letters, in units of its own; and how many bars are labelled. */
interface ChartSize {
  readonly width: number;
  readonly height: number;
  readonly letters: number;
  readonly labelsMax: number;
}

/** The size of a chart over time on a phone. */
export const narrowSize: ChartSize = { width: 340, height: 220, letters: 12, labelsMax: 5 };
/** The size of a chart over time on wider screens and on paper. */
export const wideSize: ChartSize = { width: 960, height: 250, letters: 14, labelsMax: 12 };

/** A chart of bars side by side in time, each with a mark at the value of the period before. */
export function timeBars(
  bars: readonly TimeBar[],
  { width, height, letters, labelsMax }: ChartSize,
  titles: { readonly x: string; readonly y: string },
): Html {
  const [left, right] = [letters * 3.4, width - letters * 1.8];
  const [top, bottom] = [letters * 2, height - letters * 3.4];
  const keys = bars.map(({ key }) => key);
  const x = scaleBand(keys, [left, right]).paddingInner(bars.length > 60 ? 0.15 : 0.25);
  const y = linear(
    bars.flatMap(({ value, before }) => [value ?? 0, before ?? 0]),
    [bottom, top],
  );
  const ticks = y.ticks(4).filter(Number.isInteger);
  const brief =
    (y.domain()[1] ?? 0) < 10_000
      ? count
      : (value: number) => (value === 0 ? '0' : y.tickFormat(4, '~s')(value));
  const shown = new Set(spread(keys, labelsMax));
  const middle = (key: string) => (x(key) ?? 0) + x.bandwidth() / 2;
  const tell = { 'font-size': letters, fill: 'var(--muted)' };
  return html`<svg viewBox=${`0 0 ${width} ${height}`}>
    ${ticks.map(
      tick => html`<line x1=${left} x2=${right} y1=${n(y(tick))} y2=${n(y(tick))} stroke="var(--line)" />
        <text x=${n(left - 6)} y=${n(y(tick) + letters * 0.35)} text-anchor="end" ...${tell}>${brief(tick)}</text>`,
    )}
    <text x="0" y=${letters} ...${tell}>${titles.y}</text>
    ${bars.map(bar => timeBar(bar, { x: x(bar.key) ?? 0, width: x.bandwidth(), top, bottom, y }))}
    ${bars
      .filter(({ key }) => shown.has(key))
      .map(
        ({ key, label }) =>
          html`<text x=${n(middle(key))} y=${n(bottom + letters * 1.4)} text-anchor="middle" ...${tell}>${label}</text>`,
      )}
    <text x=${n((left + right) / 2)} y=${n(height - letters * 0.4)} text-anchor="middle" ...${tell}>${titles.x}</text>
  </svg>`;
}

interface BarPlace {
  readonly x: number;
  readonly width: number;
  readonly top: number;
  readonly bottom: number;
  readonly y: (value: number) => number;
}

function timeBar({ value, before, isWhole, fill }: TimeBar, { x, width, top, bottom, y }: BarPlace): Html {
  const place = { x: n(x), width: n(width) };
  const unfinished = { 'fill-opacity': 0.3, stroke: fill, 'stroke-dasharray': '3 2' };
  const bar =
    value === null
      ? html`<rect ...${place} y=${n(top)} height=${n(bottom - top)} fill="var(--quiet-soft)" />`
      : value > 0 &&
        html`<rect ...${place} y=${n(y(value))} height=${n(bottom - y(value))} rx=${width > 8 ? 2 : 0}
          fill=${fill} ...${isWhole ? {} : unfinished} />`;
  const mark =
    before !== null &&
    html`<rect x=${n(x - width * 0.1)} width=${n(width * 1.2)} y=${n(y(before) - 1)} height="2" fill="var(--mark)" />`;
  return html`${bar}${mark}`;
}

/** One row of a ranking. */
export interface RankedBar {
  readonly label: string;
  readonly value: number;
  /** The value in the period before; null if there is none. */
  readonly before: number | null;
  /** The value as it is written beside the name. */
  readonly text: string;
}

const rankWidth = 400;
const rowHeight = 33;
const labelColumnsMax = 34;
const labelWidth = 236;
const rankLetters = 13;

/**
 * A chart of bars under each other, each below its name, so that long names have room on a phone. Values that are not
 * among the bars do not change the scale, so a long tail does not make them small.
 */
export function rankedBars(bars: readonly RankedBar[], fill: string): Html {
  const x = linear(
    bars.flatMap(({ value, before }) => [value, before ?? 0]),
    [0, rankWidth - 2],
  );
  const row = ({ label, value, before, text }: RankedBar, at: number) => {
    const top = at * rowHeight;
    return html`<svg x="0" y=${top} width=${labelWidth} height=${rowHeight} overflow="hidden">
        <text x="0" y="15" font-size=${rankLetters} fill="var(--text)">${cutToColumns(label, labelColumnsMax)}</text>
      </svg>
      <text x=${rankWidth} y=${top + 15} text-anchor="end" font-size=${rankLetters} fill="var(--muted)">${text}</text>
      <rect x="0" y=${top + 20} width=${n(x(value))} height="8" rx=${x(value) > 4 ? 2 : 0} fill=${fill} />
      ${before !== null && html`<rect x=${n(x(before))} y=${top + 18} width="2" height="12" fill="var(--mark)" />`}`;
  };
  return html`<svg viewBox=${`0 0 ${rankWidth} ${bars.length * rowHeight}`}>${bars.map(row)}</svg>`;
}

/** A scale from 0 to at least the greatest of some values. */
function linear(values: readonly number[], range: readonly [number, number]) {
  return scaleLinear([0, Math.max(1, ...values)], range).nice(4);
}

/** A length in a drawing, rounded to the hundredth. */
function n(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Some of the keys, evenly spread, including the last one. */
function spread(keys: readonly string[], countMax: number): string[] {
  const step = Math.max(1, Math.ceil(keys.length / countMax));
  return keys.filter((_, at) => (keys.length - 1 - at) % step === 0);
}
