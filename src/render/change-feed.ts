import { printableJson } from '../printable.ts';
import type { Change } from '../store/read/mirror-reader.ts';
import { changesText } from './changes.ts';
import { CsvEncoder } from './export-formats.ts';
import { type FlatChanges, flatChanges } from './flat-changes.ts';
import { instant } from './numbers.ts';
import type { ChangesOutput } from './outputs/records.ts';

/** The formats that `changes` prints, the first of them by default. */
export const changeFormats = ['table', 'ndjson', 'csv'] as const;

/** One of the formats that `changes` prints. */
export type ChangeFormat = (typeof changeFormats)[number];

interface FeedOptions {
  readonly format: ChangeFormat;
  /** The terminal's width. */
  readonly width: number;
  /** In CSV, texts that a spreadsheet would run as formulas begin with an apostrophe. */
  readonly forSpreadsheet: boolean;
  /** The lists whose changes are printed; all if left out. CSV has columns for these. */
  readonly resources?: readonly string[] | undefined;
}

/** A stream of changes as text, piece by piece. */
export function* changeFeed(
  changes: Iterable<Change>,
  { format, width, forSpreadsheet, resources }: FeedOptions,
): Generator<string> {
  if (format === 'ndjson') for (const change of changes) yield printableJson(ndjsonLine(change));
  else if (format === 'csv') yield* csvLines(changes, flatChanges(resources), forSpreadsheet);
  else yield* tableLines(changes, width);
}

/**
 * One change as a line of JSON; the records' own text is kept as it is.
 *
 * @throws SyntaxError if that text is not JSON: another program wrote to the mirror.
 */
export function ndjsonLine({
  runId,
  changedAt,
  resource,
  recordId,
  operation,
  record,
  before,
}: Change): string {
  type Head = Omit<ChangesOutput, 'record' | 'before' | 'isErased'>;
  const head = JSON.stringify({ runId, changedAt, resource, recordId, operation } satisfies Head);
  const texts = `"record":${asJson(record ?? 'null')},"before":${asJson(before ?? 'null')}`;
  return `${head.slice(0, -1)},${texts}${record === null ? ',"isErased":true' : ''}}\n`;
}

function asJson(text: string): string {
  JSON.parse(text);
  return text;
}

function* csvLines(
  changes: Iterable<Change>,
  { columns, rowOf }: FlatChanges,
  forSpreadsheet: boolean,
): Generator<string> {
  const pieces: string[] = [];
  const encoder = new CsvEncoder(columns, piece => pieces.push(piece), forSpreadsheet);
  for (const change of changes) {
    encoder.add(rowOf(change));
    yield* pieces.splice(0);
  }
  encoder.finish();
  yield* pieces;
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
