import type { Column } from '../contract/cells.ts';
import { printableJson } from '../printable.ts';
import type { Change } from '../store/read/change-cursor.ts';
import { changesText } from './changes.ts';
import { changeColumns, changedFieldsOf, flatChanges } from './flat-changes.ts';
import { instant } from './numbers.ts';
import type { ChangesOutput } from './outputs/records.ts';
import { fileFormats, tableWriter } from './table-file.ts';

/** The formats that `changes` prints, the first of them by default. */
export const changeFormats = ['table', ...fileFormats] as const;

/** One of the formats that `changes` prints. */
export type ChangeFormat = (typeof changeFormats)[number];

interface FeedOptions {
  readonly format: ChangeFormat;
  /** The terminal's width. */
  readonly width: number;
  /** The lists whose changes are printed; all if left out. CSV and XLSX have columns for these. */
  readonly resources?: readonly string[] | undefined;
}

/** Changes as text or bytes, piece by piece. */
export async function changePieces(
  changes: IteratorObject<Change>,
  { format, width, resources }: FeedOptions,
): Promise<Iterable<string | Uint8Array>> {
  if (format === 'table') return tableLines(changes, width);
  if (format === 'ndjson') return changes.map(change => printableJson(ndjsonLine(change)));
  const write = await tableWriter(format);
  if (format === 'parquet') return write(wholeColumns, changes.map(wholeRow));
  const { columns, rowOf } = flatChanges(resources);
  return write(columns, changes.map(rowOf));
}

/**
 * One change as a line of JSON; the records' own text is kept as it is.
 *
 * @throws SyntaxError if that text is not JSON: another program wrote to the mirror.
 */
export function ndjsonLine(change: Change): string {
  const { runId, changedAt, resource, recordId, operation, record, before } = change;
  type Head = Omit<ChangesOutput, 'changedFields' | 'record' | 'before' | 'isErased'>;
  const head = JSON.stringify({ runId, changedAt, resource, recordId, operation } satisfies Head);
  const texts = `"changedFields":${changedFieldsOf(change)},"record":${asJson(record ?? 'null')},"before":${asJson(before ?? 'null')}`;
  return `${head.slice(0, -1)},${texts}${record === null ? ',"isErased":true' : ''}}\n`;
}

function asJson(text: string): string {
  JSON.parse(text);
  return text;
}

/** The columns of a change with whole records, which readers of Parquet take apart themselves. */
const wholeColumns: readonly Column[] = [
  ...changeColumns,
  { name: 'record', kind: 'json' },
  { name: 'before', kind: 'json' },
];

function wholeRow(change: Change) {
  const { runId, changedAt, resource, recordId, operation, record, before } = change;
  return [runId, changedAt, resource, recordId, operation, changedFieldsOf(change), record, before];
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
