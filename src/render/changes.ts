import { fieldsOf, keptResources } from '../contract/lists.ts';
import { printableJson } from '../printable.ts';
import { type CellValue, type Column, cellsOf, changedFields, furtherJson } from '../store/read/cells.ts';
import type { Change } from '../store/read/history/changes.ts';
import { withFurtherColumns } from '../store/read/records/table.ts';
import { count, instant } from './numbers.ts';
import { differenceTexts, itemOf, shownFieldsOf } from './record-text.ts';
import { cut, linesOf } from './table.ts';
import { fileFormats, tableWriter } from './table-file.ts';

/** The formats that `changes` prints, the first of them by default. */
export const changeFormats = ['table', ...fileFormats] as const;

/** Changes as text or bytes, piece by piece; CSV and XLSX have columns for the `resources`, and XLSX for these `further` fields. */
export async function changePieces(
  changes: IteratorObject<Change>,
  format: (typeof changeFormats)[number],
  width: number,
  resources: readonly string[],
  further: readonly string[],
): Promise<Iterable<string | Uint8Array>> {
  if (format === 'table') return tableLines(changes, width);
  if (format === 'ndjson') return changes.map(change => printableJson(ndjsonLine(change)));
  const write = await tableWriter(format);
  const { columns, rowOf } = format === 'parquet' ? wholeChanges : flatChanges(resources);
  const whole = { columns, rows: changes.map(rowOf) };
  const table = format === 'xlsx' ? withFurtherColumns(whole, further) : whole;
  return write(table.columns, table.rows);
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

/** Changes for people, one on each line; what is new or gone is cut to the terminal's width. `total` can be more than are shown. */
export function changesText(changes: readonly ShownChange[], total: number, width: number): string {
  const rest = total - changes.length;
  const lines = changes.map(({ resource, operation, recordId, record, before }) => {
    const head = `${marks[operation]} ${resource} ${recordId}  `;
    if (before !== null && record !== null)
      return head + differenceTexts(resource, before, record).join(' · ');
    // The id is at the start of the line already.
    const texts = shownFieldsOf(resource, record).flatMap(({ name, text }) => (name === 'id' ? [] : [text]));
    return cut(head + texts.join(' · '), width);
  });
  return linesOf([...lines, rest > 0 && `… and ${count(rest)} more`]);
}

/** One change as a line of JSON, with the records' own text. Throws a SyntaxError if that is none: another program wrote it. */
export function ndjsonLine(change: Change): string {
  const { runId, changedAt, resource, recordId, operation, record, before } = change;
  for (const text of [record, before]) JSON.parse(text ?? 'null');
  const head = JSON.stringify({ runId, changedAt, resource, recordId, operation });
  const texts = `"changedFields":${changedFieldsOf(change)},"record":${record},"before":${before}`;
  return `${head.slice(0, -1)},${texts}${record === null ? ',"isErased":true' : ''}}\n`;
}

const changeColumns = columnsOf({
  run_id: 'integer',
  changed_at: 'instant',
  resource: 'text',
  record_id: 'integer',
  operation: 'text',
  changed_fields: 'json',
});

function columnsOf(kinds: Readonly<Record<string, Column['kind']>>): Column[] {
  return Object.entries(kinds).map(([name, kind]) => ({ name, kind }));
}

/** Rows with whole records, which readers of Parquet take apart themselves. */
const wholeChanges = {
  columns: [...changeColumns, ...columnsOf({ record: 'json', before: 'json' })],
  rowOf: (change: Change): CellValue[] => [...commonCells(change), change.record, change.before],
};

function commonCells(change: Change): CellValue[] {
  const { runId, changedAt, resource, recordId, operation } = change;
  return [runId, changedAt, resource, recordId, operation, changedFieldsOf(change)];
}

/** Rows for changes of these resources: the columns that all of them have, then each field before and after the change. */
export function flatChanges(resources: readonly string[] = keptResources) {
  const cells = new Map(resources.map(resource => [resource, fieldsOf(resource).flatMap(cellsOf)]));
  const extra: Column = { name: 'extra', kind: 'json' };
  const fields = [...cells.values()].flatMap(own => [...own, extra]);
  const kinds = new Map(fields.map(({ name, kind }) => [name, kind]));
  const valuesOf = (resource: string, text: string | null): Map<string, CellValue> => {
    if (text === null) return new Map();
    const item = itemOf(text);
    const own = cells.get(resource) ?? [];
    return new Map(own.map(cell => [cell.name, cell.of(item)])).set('extra', furtherJson(resource, item));
  };
  const pairOf = (name: string, kind: Column['kind']) =>
    columnsOf({ [`before_${name}`]: kind, [`after_${name}`]: kind });
  const pairs = [...kinds].flatMap(([name, kind]) => pairOf(name, kind));
  return {
    columns: [...changeColumns, ...columnsOf({ is_erased: 'integer' }), ...pairs],
    /** @throws SyntaxError if a record is not JSON: another program wrote to the mirror. */
    rowOf(change: Change): CellValue[] {
      const { resource, operation, record, before } = change;
      const texts = operation === 'removal' ? [record, null] : [before, record];
      const sides = texts.map(text => valuesOf(resource, text));
      const values = [...kinds.keys()].flatMap(name => sides.map(side => side.get(name) ?? null));
      return [...commonCells(change), record === null ? 1 : 0, ...values];
    },
  };
}

/** The names of the fields that an update changed, as JSON; null for other changes, and if one of the versions was erased. */
function changedFieldsOf({ resource, record, before }: Change): string | null {
  if (record === null || before === null) return null;
  return JSON.stringify(changedFields(resource, itemOf(before), itemOf(record)));
}
