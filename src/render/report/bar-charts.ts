import type { Axis, EncodeEntry, Mark, Scale, Spec } from 'vega';
import { cut } from '../cut.ts';

/** One bar over time: its place on the axis and what it is filled with. */
interface TimeBar {
  readonly key: string;
  /** What stands under the bar, where there is room. */
  readonly label: string;
  readonly value: number;
  readonly fill: string;
}

/** A chart of bars that stand side by side in time. */
export function timeBars(
  bars: readonly TimeBar[],
  size: { readonly width: number; readonly height: number; readonly labelsMax: number },
  titles: { readonly x: string; readonly y: string },
): Spec {
  const labels = Object.fromEntries(bars.map(({ key, label }) => [key, label]));
  const isSmall = Math.max(0, ...bars.map(bar => bar.value)) < 4;
  const shownKeys = spread(
    bars.map(bar => bar.key),
    size.labelsMax,
  );
  const paddingInner = bars.length > 60 ? 0.15 : 0.25;
  const corner = { value: bars.length > 60 ? 1 : 3 };
  return {
    width: size.width,
    height: size.height,
    autosize: { type: 'fit', contains: 'padding' },
    padding: 2,
    signals: [{ name: 'labels', value: labels }],
    data: [{ name: 'bars', values: bars.map(bar => ({ ...bar })) }],
    scales: [{ ...bands('x', 'key'), paddingInner, paddingOuter: 0.1 }, values('y')],
    axes: [
      { ...xAxis, title: titles.x, values: shownKeys },
      { ...yAxis, title: titles.y, ...(isSmall && { tickMinStep: 1 }) },
    ],
    marks: [
      mark('rect', {
        x: { scale: 'x', field: 'key' },
        width: { scale: 'x', band: 1 },
        y: { scale: 'y', field: 'value' },
        y2: { scale: 'y', value: 0 },
        fill: { field: 'fill' },
        cornerRadiusTopLeft: corner,
        cornerRadiusTopRight: corner,
      }),
    ],
  };
}

const xAxis: Axis = {
  orient: 'bottom',
  scale: 'x',
  ticks: false,
  labelOverlap: true,
  encode: { labels: { update: { text: { signal: 'labels[datum.value]' } } } },
};

/** `800`, `1,200`, `15k`: the library's own short form would call 800 0.8k beside a 1k. */
const briefNumber = {
  signal: "datum.value >= 10000 ? format(datum.value, '~s') : format(datum.value, ',.3~r')",
};

const yAxis: Axis = {
  orient: 'left',
  scale: 'y',
  grid: true,
  domain: false,
  ticks: false,
  tickCount: 4,
  encode: { labels: { update: { text: briefNumber } } },
};

/** One row of a ranking. */
export interface RankedBar {
  readonly label: string;
  readonly value: number;
  /** The value as it is written beside the bar. */
  readonly text: string;
}

const rowHeight = 40;
const rankWidth = 400;
/** Letters that have room above a bar: the library would guess their width much too great. */
const labelLettersMax = 40;
const middleOfRow = { scale: 'y', field: 'at', band: 0.5 } as const;

/** A chart of bars that lie under each other, each below its name: so that long names have room on a phone. */
export function rankedBars(bars: readonly RankedBar[], title: string, fill: string): Spec {
  const rows = bars.map((bar, at) => ({ ...bar, label: cut(bar.label, labelLettersMax), at }));
  return {
    width: rankWidth,
    height: bars.length * rowHeight,
    autosize: 'none',
    padding: { left: 4, right: 20, top: 4, bottom: 44 },
    data: [{ name: 'bars', values: rows }],
    scales: [bands('y', 'at'), values('x')],
    axes: [{ ...valueAxis, title }],
    marks: [
      mark('rect', {
        x: { scale: 'x', value: 0 },
        x2: { scale: 'x', field: 'value' },
        y: { ...middleOfRow, offset: 3 },
        height: { value: 12 },
        fill: { value: fill },
        cornerRadiusTopRight: { value: 3 },
        cornerRadiusBottomRight: { value: 3 },
      }),
      rowText('label', { align: 'left', x: 0, fill: 'var(--text)' }),
      rowText('text', { align: 'right', x: rankWidth, fill: 'var(--muted)' }),
    ],
  };
}

const valueAxis: Axis = {
  orient: 'bottom',
  scale: 'x',
  tickSize: 4,
  labelFontSize: 13,
  titleFontSize: 13,
  tickCount: 4,
  tickMinStep: 1,
  encode: { labels: { update: { text: briefNumber } } },
};

function rowText(field: 'label' | 'text', look: { align: 'left' | 'right'; x: number; fill: string }): Mark {
  return mark('text', {
    x: { value: look.x },
    y: { ...middleOfRow, offset: -2 },
    text: { field },
    align: { value: look.align },
    baseline: { value: 'bottom' },
    fontSize: { value: 13 },
    fill: { value: look.fill },
  });
}

function mark(type: 'rect' | 'text', enter: EncodeEntry): Mark {
  return { type, aria: false, from: { data: 'bars' }, encode: { enter } };
}

function bands(name: 'x' | 'y', field: string) {
  return { name, type: 'band', domain: { data: 'bars', field }, range: rangeOf(name) } as const;
}

function values(name: 'x' | 'y'): Scale {
  const domain = { data: 'bars', field: 'value' };
  return { name, type: 'linear', domain, range: rangeOf(name), nice: 4, zero: true };
}

function rangeOf(name: 'x' | 'y'): 'width' | 'height' {
  return name === 'x' ? 'width' : 'height';
}

/** Some of the keys, evenly spread, the last one among them. */
function spread(keys: readonly string[], count: number): string[] {
  const step = Math.max(1, Math.ceil(keys.length / count));
  return keys.filter((_, at) => (keys.length - 1 - at) % step === 0);
}
