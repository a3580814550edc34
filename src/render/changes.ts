import {
  type CellValue,
  type Column,
  cellsOf,
  changedFields,
  furtherFields,
  type Item,
} from '../contract/cells.ts';
import { isObject, parseExact } from '../contract/json.ts';
import { keptResources, fieldsOf as registryOf } from '../contract/lists.ts';
import { printableJson } from '../printable.ts';
import type { Change } from '../store/read/change-cursor.ts';
import { columnsOf, cutToColumns, piece } from './cut.ts';
import { count, instant } from './numbers.ts';
import type { OutputOf } from './outputs/outputs.ts';
import { differencesOf, fieldsOf, type ShownDifference } from './record-text.ts';
import { fileFormats, tableWriter } from './table-file.ts';

// Changes in all forms.

/** The formats that `changes` prints, the first of them by default. */
export const changeFormats = ['table', ...fileFormats] as const;

/**
 * Changes as text or bytes, piece by piece.
 *
 * @param resources the lists whose changes are printed, and for which CSV and XLSX have columns; all if left out.
 */
export async function changePieces(
  changes: IteratorObject<Change>,
  format: (typeof changeFormats)[number],
  width: number,
  resources?: readonly string[],
): Promise<Iterable<string | Uint8Array>> {
  if (format === 'table') return tableLines(changes, width);
  if (format === 'ndjson') return changes.map(change => printableJson(ndjsonLine(change)));
  const write = await tableWriter(format);
  const { columns, rowOf } = format === 'parquet' ? wholeChanges : flatChanges(resources);
  return write(columns, changes.map(rowOf));
}

function* tableLines(changes: Iterable<Change>, width: number): Generator<string> {
  let runId: number | null = null;
  for (const change of changes) {
    if (change.runId !== runId) {
      const ended = change.changedAt === null ? '' : `, ${instant(change.changedAt)}`;
      yield `${runId === null ? '' : '\n'}Run ${change.runId}${ended}\n`;
      runId = change.runId;
    }
    yield changesText([change], 1, width);
  }
}

/** A change as people see it. */
export type ShownChange = Pick<Change, 'resource' | 'operation' | 'recordId' | 'record' | 'before'>;

const marks = { insert: '+', update: '~', removal: '−' } as const;
const between = ' · ';

/** Changes for people, one on each line, cut to the terminal's width; `total` can be more than are shown. */
export function changesText(changes: readonly ShownChange[], total: number, width: number): string {
  const lines = changes.map(change => {
    const { resource, operation, recordId, record, before } = change;
    const head = `${marks[operation]} ${resource} ${recordId}  `;
    // The id is at the start of the line already.
    const said =
      before !== null && record !== null
        ? differencesText(differencesOf(resource, before, record), width - head.length)
        : fieldsOf(resource, record)
            .filter(({ name }) => name !== 'id')
            .map(({ text }) => text)
            .join(between);
    return cutToColumns(head + said, width);
  });
  if (total > changes.length) lines.push(`… and ${count(total - changes.length)} more`);
  return lines.map(line => `${line}\n`).join('');
}

/** The least of a value that is still useful, and how much is shown before a difference, in characters. */
const [sideMin, contextLength] = [5, 8];

/** Differences in about as many columns as there is room for: names are never cut, and values begin shortly before they differ. */
function differencesText(differences: readonly ShownDifference[], room: number): string {
  const text = (side: (value: string, other: string) => string) =>
    differences
      .map(({ name, before, after, note }) => {
        return `${name}: ${side(before, after) || '–'} → ${side(after, before) || '–'}${note}`;
      })
      .join(between);
  const whole = text(value => value);
  if (columnsOf(whole) <= room) return whole;
  const sideMax = Math.floor((room - columnsOf(text(() => '–'))) / differences.length / 2);
  return text((value, other) => {
    let from = 0;
    while (from < value.length && value[from] === other[from]) from++;
    // If the rest is short, more of the text before it is shown.
    const fits = Math.floor((sideMax * value.length) / columnsOf(value)) - 1;
    from = Math.min(from - contextLength, value.length - fits);
    const shown = from > 0 && columnsOf(value) > sideMax ? `…${piece(value, from, value.length)}` : value;
    return cutToColumns(shown, Math.max(sideMin, sideMax));
  });
}

/**
 * One change as a line of JSON; the records' own text is kept as it is.
 *
 * @throws SyntaxError if that text is not JSON: another program wrote to the mirror.
 */
export function ndjsonLine(change: Change): string {
  const { runId, changedAt, resource, recordId, operation, record, before } = change;
  type Head = Omit<OutputOf['changes'], 'changedFields' | 'record' | 'before' | 'isErased'>;
  const head = JSON.stringify({ runId, changedAt, resource, recordId, operation } satisfies Head);
  for (const text of [record, before]) JSON.parse(text ?? 'null');
  const texts = `"changedFields":${changedFieldsOf(change)},"record":${record},"before":${before}`;
  return `${head.slice(0, -1)},${texts}${record === null ? ',"isErased":true' : ''}}\n`;
}

/** The columns that say which change it is. */
const changeColumns: readonly Column[] = [
  { name: 'run_id', kind: 'integer' },
  { name: 'changed_at', kind: 'instant' },
  { name: 'resource', kind: 'text' },
  { name: 'record_id', kind: 'integer' },
  { name: 'operation', kind: 'text' },
  { name: 'changed_fields', kind: 'json' },
];

/** Rows with whole records, which readers of Parquet take apart themselves. */
const wholeChanges = {
  columns: [...changeColumns, ...['record', 'before'].map((name): Column => ({ name, kind: 'json' }))],
  rowOf: (change: Change): CellValue[] => [...commonCells(change), change.record, change.before],
};

function commonCells(change: Change): CellValue[] {
  const { runId, changedAt, resource, recordId, operation } = change;
  return [runId, changedAt, resource, recordId, operation, changedFieldsOf(change)];
}

/** Rows for changes of these resources: the columns that all of them have, then each field before and after the change. */
export function flatChanges(resources: readonly string[] = keptResources) {
  const byResource = new Map(
    resources.map(resource => {
      const cells = registryOf(resource).flatMap(cellsOf);
      const extra = {
        name: 'extra',
        kind: 'json',
        of: (item: Item) => furtherFields(resource, item),
      } as const;
      return [resource, new Map([...cells, extra].map(cell => [cell.name, cell]))];
    }),
  );
  const cells = new Map([...byResource.values()].flatMap(own => [...own]));
  const sides = [...cells.values()].flatMap(({ name, kind }) =>
    ['before', 'after'].map(side => ({ name: `${side}_${name}`, kind })),
  );
  const columns: Column[] = [...changeColumns, { name: 'is_erased', kind: 'integer' }, ...sides];
  return {
    columns,
    /** @throws SyntaxError if a record is not JSON: another program wrote to the mirror. */
    rowOf(change: Change): CellValue[] {
      const own = byResource.get(change.resource);
      const now = itemOf(change.record);
      const isRemoval = change.operation === 'removal';
      const [before, after] = isRemoval ? [now, null] : [itemOf(change.before), now];
      const row = [...commonCells(change), change.record === null ? 1 : 0];
      for (const name of cells.keys()) {
        const cell = own?.get(name);
        row.push(before && cell ? cell.of(before) : null, after && cell ? cell.of(after) : null);
      }
      return row;
    },
  };
}

/** The names of the fields that an update changed, as JSON; null for other changes, and if one of the versions was erased. */
function changedFieldsOf({ resource, record, before }: Change): string | null {
  if (record === null || before === null) return null;
  return JSON.stringify(changedFields(resource, itemOf(before) as Item, itemOf(record) as Item));
}

/**
 * A record as a value that is written with all digits of its numbers.
 *
 * @throws SyntaxError if it is not an object in JSON: another program wrote to the mirror.
 */
export function itemOf(text: string | null): Item | null {
  if (text === null) return null;
  const value = parseExact(text);
  if (!isObject(value)) throw new SyntaxError('a record is not an object in JSON');
  return value;
}
