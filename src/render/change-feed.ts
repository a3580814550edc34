import { printableJson } from '../printable.ts';
import type { Change } from '../store/read/mirror-reader.ts';
import { changesText } from './changes.ts';
import { csvText } from './csv.ts';
import { instant } from './numbers.ts';

/** The formats that `changes` prints, the first of them by default. */
export const changeFormats = ['table', 'ndjson', 'csv'] as const;

/** One of the formats that `changes` prints. */
export type ChangeFormat = (typeof changeFormats)[number];

interface FeedOptions {
  readonly format: ChangeFormat;
  /** The terminal's. */
  readonly width: number;
  /** In CSV, texts that a spreadsheet would run as formulas begin with an apostrophe. */
  readonly forSpreadsheet: boolean;
}

/** A stream of changes as text, piece by piece. */
export function* changeFeed(
  changes: Iterable<Change>,
  { format, width, forSpreadsheet }: FeedOptions,
): Generator<string> {
  if (format === 'ndjson') for (const change of changes) yield printableJson(ndjsonLine(change));
  else if (format === 'csv') yield* csvLines(changes, forSpreadsheet);
  else yield* tableLines(changes, width);
}

/**
 * One change as a line of JSON; the records' own text is kept as it is.
 *
 * @throws SyntaxError where that is no JSON: another program wrote to the mirror.
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
  const head = JSON.stringify({ runId, changedAt, resource, recordId, operation });
  const texts = `"record":${asJson(record ?? 'null')},"before":${asJson(before ?? 'null')}`;
  return `${head.slice(0, -1)},${texts}${record === null ? ',"isErased":true' : ''}}\n`;
}

function asJson(text: string): string {
  JSON.parse(text);
  return text;
}

function* csvLines(changes: Iterable<Change>, forSpreadsheet: boolean): Generator<string> {
  yield 'run_id,changed_at,resource,record_id,operation,record,before\n';
  for (const { runId, changedAt, resource, recordId, operation, record, before } of changes) {
    const row = [runId, changedAt, resource, recordId, operation, record ?? 'erased', before];
    yield csvText([row], forSpreadsheet);
  }
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
