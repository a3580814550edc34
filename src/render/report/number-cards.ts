import type { ReportData } from '../../store/read/report-data.ts';
import type { Counted } from '../../store/read/volume.ts';
import { count } from '../numbers.ts';
import { Clock } from './clock.ts';
import { type Html, html } from './html.ts';

/** The period in a few numbers, each with that of the period before. */
export function numberCards(data: ReportData): Html {
  const { exports, changes, period } = data;
  const clock = new Clock(period.timezone);
  const { now, before } = exports.all;
  const later = (operation: string) =>
    changes.find(each => each.resource === 'document-exports' && each.operation === operation)?.count ?? 0;
  return html`<section class="numbers-of" aria-labelledby="numbers">
    <h2 id="numbers">In numbers</h2>
    <div class="cards four">
      ${card('Exports', now, `${change(now, before)}${count(before)} before`)}
      ${card('Sources', active(exports.sources, 'now'), `${count(active(exports.sources, 'before'))} before`)}
      ${card('Destinations', active(exports.destinations, 'now'), `${count(active(exports.destinations, 'before'))} before`)}
      ${card('Corrected later', later('update'), `and ${count(later('removal'))} removed`)}
    </div>
    <p class="hint">${'“Before” is '}${clock.span(exports.compared)}${'.'}</p>
  </section>`;
}

function active({ entries }: Counted<unknown>, when: 'now' | 'before'): number {
  return entries.filter(each => each[when] > 0).length;
}

/** `+12 %, `; nothing if there is nothing to compare with. */
function change(now: number, before: number): string {
  const text = changeText(now, before);
  return text === '' ? '' : `${text}, `;
}

/** The change of a number, in percent: `+12 %`, `−3 %`, `±0 %`; empty if it was 0 before. */
export function changeText(now: number, before: number): string {
  if (before === 0) return '';
  const percent = Math.round(((now - before) / before) * 100);
  const sign = percent === 0 ? '±' : percent > 0 ? '+' : '−';
  return `${sign}${count(Math.abs(percent))}\u00a0%`;
}

function card(title: string, value: number, note: string): Html {
  return html`<article class="card"><h3>${title}</h3><p class="big">${count(value)}</p><p>${note}</p></article>`;
}
