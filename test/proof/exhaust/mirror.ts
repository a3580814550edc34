import type { Answer, Shown } from '../../../src/proof/answers.ts';
import type { Proof } from '../../../src/proof/conclude.ts';
import type { Identity } from '../../../src/proof/keys.ts';
import type { LearntOrder } from '../../../src/proof/order.ts';
import { ofText, type RecordNo } from '../../../src/proof/page-items.ts';
import type { KnownRow } from '../../../src/proof/reconcile.ts';
import type * as Core from './core.ts';
import { recordNumber, type WorldRecord } from './records.ts';

/** A mirror of a list, as docmirror would keep it. */
export interface Mirror {
  /** Rows by content; each with its key, its record's id and how many there are. */
  readonly rows: Map<number, Row>;
  learnt: LearntOrder;
  /** The total of the last run; null if there was none. */
  totalBefore: number | null;
}

/** A row of the mirror, or some that are the same. */
export interface Row {
  readonly record: WorldRecord;
  count: number;
}

/** Settles all records that answers have shown, and finds the rows that none leaves room for. Identical rows are told apart by their place. */
export function settleMirror(
  core: typeof Core,
  mirror: Pick<Mirror, 'rows'>,
  served: ReadonlyMap<Answer, readonly WorldRecord[]>,
  merged: readonly Shown[],
  identity: Identity,
) {
  const recordOf = new Map<number, WorldRecord>();
  const rowsOf = new Map<RecordNo, KnownRow[]>();
  for (const [content, { record, count }] of mirror.rows) {
    recordOf.set(content, record);
    const number = recordNumber(record, identity);
    const rows = rowsOf.get(number) ?? [];
    for (let copy = 0; copy < count; copy++)
      rows.push({ row: content * 100 + copy, version: ofText(content) });
    rowsOf.set(number, rows);
  }
  for (const records of served.values()) for (const record of records) recordOf.set(record.content, record);
  const byMoment = [...served.keys(), ...merged].sort((a, b) => a.asked - b.asked);
  const pages = byMoment.map(({ page }) => page);
  const numbers = new Set(pages.flatMap(({ records }) => [...records]));
  const settled = core.reconcileVersions(
    pages,
    numbers,
    number => rowsOf.get(number) ?? [],
    identity === 'id',
  );
  const rows: WorldRecord[] = [];
  const absent: { id: number; key: number }[] = [];
  for (const [number, known] of rowsOf)
    for (const { version } of settled.get(number)?.absent ?? known)
      absent.push({ id: version, key: (recordOf.get(version) as WorldRecord).key });
  let addedCount = 0;
  for (const { added } of settled.values()) addedCount += added.length;
  for (const { kept, edited, added } of settled.values())
    for (const version of [...[...kept, ...edited].map(each => each.version), ...added])
      rows.push(recordOf.get(version) as WorldRecord);
  return { rows, absent, addedCount };
}

/** Writes what was settled, by the decisions on the rows that nothing leaves room for; returns those that go. */
export function writeMirror(
  mirror: Mirror,
  { rows, absent }: ReturnType<typeof settleMirror>,
  decisions: Proof['rows'],
): WorldRecord[] {
  const removed: WorldRecord[] = [];
  const before = new Map([...mirror.rows].map(([content, { record }]) => [content, record]));
  mirror.rows.clear();
  const add = (record: WorldRecord) => {
    const row = mirror.rows.get(record.content);
    if (row === undefined) mirror.rows.set(record.content, { record, count: 1 });
    else row.count++;
  };
  const gone = decisions.filter(({ decision }) => decision === 'gone').map(({ id }) => id);
  for (const { id } of absent) {
    const record = before.get(id) as WorldRecord;
    const at = gone.indexOf(id);
    if (at < 0) add(record);
    else {
      gone.splice(at, 1);
      removed.push(record);
    }
  }
  for (const record of rows) add(record);
  return removed;
}

/** A copy of a mirror's rows, for a comparison with the rows after a night. */
export function copyOf(rows: Mirror['rows']): Mirror['rows'] {
  return new Map([...rows].map(([content, { record, count }]) => [content, { record, count }]));
}
