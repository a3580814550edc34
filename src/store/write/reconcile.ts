// What the answers so far make of rows. It is asked while pages come, and for the last time by the plan.

import { Sum } from '../../contract/sum.ts';
import type { AbsentRow } from '../../proof/questions.ts';
import { type ReconciledRecord, reconcileVersions } from '../../proof/reconcile.ts';
import type { RecordNo, ShownRecords, VersionNo } from '../../proof/record-no.ts';
import type { Records } from './records.ts';

/** What the answers say of all records of a list. */
export interface Reconciliation {
  /** The records of which there is more than one version or row, or that an answer shows twice. */
  readonly reconciled: ReadonlyMap<RecordNo, ReconciledRecord>;
  /** The rows of these records that stay, or get another version. */
  readonly held: ReadonlySet<number>;
  /** How many records the list has by the answers, how many rows get another version, and how many are new. */
  readonly seen: number;
  readonly updated: number;
  readonly inserted: number;
}

/** Finds what the answers say, the oldest first, of the records on their pages. Changes nothing. */
export function reconcile(answers: readonly ShownRecords[], records: Records): Reconciliation {
  const { identities, staged, stagedRows } = records;
  const reconciled = reconcileVersions(
    answers,
    records.open,
    each => identities.rowsOf(each),
    identities.isOfIds,
  );
  const held = new Set<number>();
  let seen = records.rowSum.count + records.stagedSum.count;
  let [updated, inserted] = [stagedRows, staged.size - stagedRows];
  for (const [record, each] of reconciled) {
    for (const { row } of [...each.kept, ...each.edited]) held.add(row);
    seen += each.kept.length + each.edited.length + each.added.length - each.shown.size;
    updated += each.edited.length;
    inserted += each.added.length;
    if (!staged.has(record)) continue;
    if (identities.rowsOf(record).length > 0) updated--;
    else inserted--;
  }
  return { reconciled, held, seen, updated, inserted };
}

/** Whether a row is in the list, as it is or as an older version of a record. */
export function isThere(
  row: number,
  { held }: Reconciliation,
  { identities, rows, staged }: Records,
): boolean {
  return identities.duplicates.get(row) === undefined ? rows.has(row) || staged.has(row) : held.has(row);
}

/** The rows that no answer leaves room for, in the order of their ids. */
export function absentRows(reconciliation: Reconciliation, records: Records): AbsentRow[] {
  const { table, sqlite, sum, list } = records.context;
  if (sum.count === 0 || records.rows.size >= table.count()) return [];
  const isAbsent = ({ id }: AbsentRow) => !isThere(id, reconciliation, records);
  // Ids of the service can be far apart.
  if (list.identity.by === 'id') return table.keys().filter(isAbsent);
  const absent: AbsentRow[] = [];
  const span = sqlite.prepare<[], { least: number; most: number }>(records.sql.idSpan).get();
  for (const { from, to } of span === undefined ? [] : records.rows.gaps(span.least, span.most))
    for (const row of table.keys(from, to)) if (isAbsent(row)) absent.push(row);
  return absent;
}

/** The sum of the records that the list has by the answers, and of those among them that rows get. */
export function sumsOf({ reconciled }: Reconciliation, records: Records): { listed: Sum; written: Sum } {
  const listed = records.rowSum.plus(records.stagedSum);
  const written = records.stagedSum.plus(new Sum());
  for (const [record, { kept, edited, added, shown }] of reconciled) {
    const ofRows = new Map<VersionNo, Uint8Array>();
    for (const { row, version } of records.identities.rowsOf(record))
      ofRows.set(version, Buffer.from(records.context.table.read(row).content, 'hex'));
    const contentOf = (version: VersionNo) => ofRows.get(version) ?? records.texts.bytesOf(version);
    for (const version of shown) {
      listed.subtract(contentOf(version));
      if (!ofRows.has(version)) written.subtract(contentOf(version));
    }
    for (const { version } of kept) listed.add(contentOf(version));
    for (const version of [...edited.map(each => each.version), ...added]) {
      listed.add(contentOf(version));
      written.add(contentOf(version));
    }
  }
  return { listed, written };
}
