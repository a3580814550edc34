import type { Change } from '../store/read/change-cursor.ts';
import { columnsOf, cut, cutToColumns, piece } from './cut.ts';
import { count } from './numbers.ts';
import { differencesOf, fieldsOf, type ShownDifference, wholeRecord } from './record-text.ts';

/** A change as it is shown. */
export type ShownChange = Pick<Change, 'resource' | 'operation' | 'recordId' | 'record' | 'before'>;

const marks: Record<string, string> = { insert: '+', update: '~', removal: '−' };

/** Changes for people, one on each line, cut to the terminal's width; `total` can be more than are shown. */
export function changesText(changes: readonly ShownChange[], total: number, width: number): string {
  const lines = changes.map(change => {
    const head = `${marks[change.operation] ?? '?'} ${change.resource} ${change.recordId}  `;
    return cutToColumns(head + describe(change, width - head.length), width);
  });
  if (total > changes.length) lines.push(`… and ${count(total - changes.length)} more`);
  return lines.map(line => `${line}\n`).join('');
}

/** The fields of a change, in about as many columns as there is room for. */
function describe({ resource, record, before }: ShownChange, room: number): string {
  if (before === null || record === null) {
    // The id is at the start of the line already.
    const fields = fieldsOf(resource, record, bounds).filter(({ name }) => name !== 'id');
    return fields.map(({ text }) => text).join(between);
  }
  const changed = differencesOf(resource, before, record, bounds).map(each => ({
    ...each,
    before: each.before || '–',
    after: each.after || '–',
  }));
  const whole = changed.map(differenceText).join(between);
  if (columnsOf(whole) <= room) return whole;
  // Names and marks are never cut; the values share the rest.
  const fixed = changed.map(each => differenceText({ ...each, before: '', after: '' })).join(between);
  const within = (sideMax: number) =>
    changed.map(each => differenceText(shortened(each, sideMax))).join(between);
  let sideMax = Math.max(sideMin, Math.floor((room - columnsOf(fixed)) / changed.length / 2));
  while (sideMax > sideMin && columnsOf(within(sideMax)) > room) sideMax--;
  return within(sideMax);
}

const bounds = { ...wholeRecord, withIds: false };
const between = ' · ';

function differenceText({ name, before, after, note }: ShownDifference): string {
  return `${name}: ${before} → ${after}${note}`;
}

/** The least of a value that is still useful, in characters. */
const sideMin = 5;
/** How much is shown around a change, in characters; nearly nothing if a value has so little room. */
const contextLength = 8;
const narrowSide = 12;

/** Both values around their difference, each with at most `sideMax` characters. */
function shortened({ before, after, ...rest }: ShownDifference, sideMax: number): ShownDifference {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let alike = 0;
  while (alike < shorter - start && before.at(-1 - alike) === after.at(-1 - alike)) alike++;
  const context = sideMax < narrowSide ? 1 : contextLength;
  const around = (value: string) => {
    if (value.length <= sideMax) return value;
    const to = Math.min(value.length, value.length - alike + context);
    // If the difference is short, more of the text before it is shown; two characters are for the marks.
    const from = Math.max(0, Math.min(start - context, to - sideMax + 2));
    const end = to < value.length ? '…' : '';
    return cut(`${from === 0 ? '' : '…'}${piece(value, from, to)}${end}`, sideMax);
  };
  return { ...rest, before: around(before), after: around(after) };
}
