// What the answers say of a record
// =================================
//
// A record is its identity, and a list can have several of one identity. Its text can change while the list is read: somebody edits it, two
// nodes of the service write it in two ways, or a field has another value in each answer. An answer is one moment. So of a record there are
// as many as one answer has shown at once, in the versions of the newest answer that shows that many:
//
//     09:00   a  b  b'       two of b in two versions
//     09:01         b' c     the page begins between them: it says nothing of b
//     09:02   a  b" b'       one of them was edited
//                            a, b" and b' are in the list, and b is an older version of a row
//
// More were never there at once. Fewer would leave one out that can have been there all the time. An answer that shows fewer is one whose
// edge cuts them, or one of them has gone meanwhile: the next run sees that.

/** What settling needs of an answer: for each place the number of its record, and that of its version. */
export interface ShownRecords {
  /** The number of a record; the same for all records of one identity. */
  readonly records: Float64Array;
  /** The number of a version; 0 is that of the record's only row, below zero are records that can't be read. */
  readonly versions: Int32Array;
}

/** A row of the mirror, and the number of its version. */
export interface KnownRow {
  readonly row: number;
  readonly version: number;
}

/** What becomes of the records of one identity. */
export interface Settled {
  /** Rows that stay as they are. */
  readonly kept: readonly KnownRow[];
  /** Rows that get another version. */
  readonly edited: readonly KnownRow[];
  /** The version of each record that has no row. */
  readonly added: readonly number[];
  /** Rows that no answer leaves room for. */
  readonly left: readonly KnownRow[];
  /** All versions that answers have shown, each once. */
  readonly shown: ReadonlySet<number>;
}

/**
 * Settles some records of a run.
 *
 * @param answers the oldest first.
 * @param records the numbers of the records; others are left out.
 * @param isOneEach whether an identity has one record at most, as an id has. If a list has it twice, the row keeps its version.
 */
export function settle(
  answers: Iterable<ShownRecords>,
  records: ReadonlySet<number>,
  rowsOf: (record: number) => readonly KnownRow[],
  isOneEach: boolean,
): Map<number, Settled> {
  const newest = new Map<number, readonly number[]>();
  const shown = new Map<number, Set<number>>();
  for (const answer of records.size === 0 ? [] : answers) {
    const here = new Map<number, number[]>();
    for (const [at, record] of answer.records.entries()) {
      if (!records.has(record)) continue;
      const version = answer.versions[at] as number;
      if (version < 0) continue;
      madeFor(here, record, (): number[] => []).push(version);
      madeFor(shown, record, () => new Set<number>()).add(version);
    }
    for (const [record, versions] of here)
      if (versions.length >= (newest.get(record)?.length ?? 0)) newest.set(record, versions); // guard: the newest of the fullest answers
  }
  const settled = new Map<number, Settled>();
  for (const [record, versions] of newest)
    settled.set(record, settleOne(versions, rowsOf(record), shown.get(record) as Set<number>, isOneEach));
  return settled;
}

/** Gives versions to rows: first to those that have them, then to others; what is left becomes new rows. */
function settleOne(
  versions: readonly number[],
  rows: readonly KnownRow[],
  shown: ReadonlySet<number>,
  isOneEach: boolean,
): Settled {
  const due = new Map<number, number>();
  for (const version of versions) due.set(version, (due.get(version) ?? 0) + 1);
  const kept: KnownRow[] = [];
  const free: KnownRow[] = [];
  for (const known of rows) {
    const count = due.get(known.version) ?? 0;
    if (count > 0) due.set(known.version, count - 1);
    (count > 0 ? kept : free).push(known);
  }
  const added = [...due].flatMap(([version, count]) => new Array<number>(count).fill(version));
  // An id that is twice in a list is one row.
  if (isOneEach) added.splice(kept.length > 0 ? 0 : 1);
  const edited = added
    .splice(0, free.length)
    .map((version, at) => ({ row: (free[at] as KnownRow).row, version }));
  return { kept, edited, added, left: free.slice(edited.length), shown };
}

/** The value of a key; if there is none it gets a new one. */
function madeFor<Value>(map: Map<number, Value>, key: number, make: () => Value): Value {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}
