// After the last phase, and when one asks which rows are absent: what the answers say of a record. A list can have several of one identity,
// in several texts. See *Which text counts* in docs/proof.md.

import { type RecordNo, type ShownRecords, unreadable, type VersionNo } from './page-items.ts';

/** A row of the mirror, and its version. */
export interface KnownRow {
  readonly row: number;
  readonly version: VersionNo;
}

/** What becomes of the records of one identity. */
export interface ReconciledRecord {
  readonly kept: readonly KnownRow[];
  /** Rows that get another version. */
  readonly edited: readonly KnownRow[];
  /** The version of each record that has no row. */
  readonly added: readonly VersionNo[];
  /** Rows that no answer leaves room for. */
  readonly absent: readonly KnownRow[];
  /** All versions that answers have shown, each once. */
  readonly shown: ReadonlySet<VersionNo>;
}

/** What was seen of the records of one identity so far. */
interface Seen {
  /** The versions on the newest of the answers that show the most. */
  fullest: readonly VersionNo[];
  readonly shown: Set<VersionNo>;
}

/** Reconciles the records of these numbers by answers, the oldest first; `isOneEach` if an identity has one record at most, as an id has. */
export function reconcileVersions(
  answers: Iterable<ShownRecords>,
  records: ReadonlySet<RecordNo>,
  rowsOf: (record: RecordNo) => readonly KnownRow[],
  isOneEach: boolean,
): Map<RecordNo, ReconciledRecord> {
  const seen = new Map<RecordNo, Seen>();
  for (const answer of records.size === 0 ? [] : answers)
    for (const [record, versions] of versionsIn(answer, records)) {
      const { fullest, shown } = seen.get(record) ?? { fullest: [], shown: new Set<VersionNo>() };
      for (const version of versions) shown.add(version);
      const isFullest = versions.length >= fullest.length; // guard: the newest of the fullest answers
      seen.set(record, { fullest: isFullest ? versions : fullest, shown });
    }
  const reconciled = new Map<RecordNo, ReconciledRecord>();
  for (const [record, { fullest, shown }] of seen)
    reconciled.set(record, { ...giveRows(fullest, rowsOf(record), isOneEach), shown });
  return reconciled;
}

function versionsIn(answer: ShownRecords, records: ReadonlySet<RecordNo>): Map<RecordNo, VersionNo[]> {
  const found = new Map<RecordNo, VersionNo[]>();
  for (const [at, record] of answer.records.entries()) {
    const version = answer.versions[at] as VersionNo;
    if (version === unreadable || !records.has(record)) continue;
    const versions = found.get(record);
    if (versions === undefined) found.set(record, [version]);
    else versions.push(version);
  }
  return found;
}

/** Gives versions to rows: first to those that have them, then to others. What is left becomes new rows. */
function giveRows(versions: readonly VersionNo[], rows: readonly KnownRow[], isOneEach: boolean) {
  const due = new Map<VersionNo, number>();
  for (const version of versions) due.set(version, (due.get(version) ?? 0) + 1);
  const kept: KnownRow[] = [];
  const free: KnownRow[] = [];
  for (const known of rows) {
    const count = due.get(known.version) ?? 0;
    const isShown = count > 0; // guard: a row keeps a text that is shown
    if (isShown) due.set(known.version, count - 1);
    (isShown ? kept : free).push(known);
  }
  const others = [...due].flatMap(([version, count]) => new Array<VersionNo>(count).fill(version));
  if (isOneEach) others.splice(kept.length > 0 ? 0 : 1); // guard: an id is one row
  const edited = free
    .slice(0, others.length)
    .map(({ row }, at) => ({ row, version: others[at] as VersionNo }));
  return { kept, edited, added: others.slice(edited.length), absent: free.slice(edited.length) };
}
