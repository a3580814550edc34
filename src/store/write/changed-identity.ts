import { gt } from 'drizzle-orm';
import type { RecordValues } from '../../contract/content.ts';
import { type ListDefinition, type Scalar, scalarFields } from '../../contract/lists.ts';
import { rowsTable } from '../tables/rows-table.ts';
import { prepareValue, select } from '../tables/statement.ts';
import type { ListContext } from './list-context.ts';

/** How many of the records that seem gone are compared: a service that writes a field in another way does so in all of them. */
const lookedAtMax = 1_000;

/**
 * The one identity field in which records that seem gone differ from as many newer ones; null if there is none. The service seems
 * to write the field in another way, so nothing is gone.
 *
 * @param gone rows that no answer has shown.
 * @param inserted the records that the run inserts.
 */
export function changedIdentityField(
  { file, list, table }: ListContext,
  gone: readonly number[],
  inserted: Iterable<RecordValues>,
): string | null {
  const lost = gone.slice(0, lookedAtMax).map(id => table.read(id));
  const oldest = lost.reduce(
    (first, { firstSeenRunId }) => Math.min(first, firstSeenRunId),
    Number.POSITIVE_INFINITY,
  );
  if (!Number.isFinite(oldest)) return null;
  const rows = rowsTable(list.resource);
  const newer = prepareValue(file.sqlite, (runId: number) =>
    select({ id: rows.id }).from(rows).where(gt(rows.changedRunId, runId)),
  ).all(oldest);
  const areGone = new Set(gone);
  const came = newer.filter(id => !areGone.has(id));
  const now = [...inserted];
  if (came.length + now.length < gone.length) return null;
  const sought = partsOfIdentity(list).map(
    part =>
      new Sought(
        part,
        lost.map(({ record }) => record),
      ),
  );
  const since = came.map(id => table.read(id)).filter(({ firstSeenRunId }) => firstSeenRunId > oldest);
  for (const record of [...since.map(row => row.record), ...now])
    for (const each of sought) if (each.isFound(record)) return each.field;
  return null;
}

/** A field of the identity, and the values of the other fields in a record. */
interface IdentityPart {
  readonly field: string;
  readonly others: (record: RecordValues) => readonly unknown[];
}

function partsOfIdentity(list: ListDefinition): IdentityPart[] {
  const { identity } = list;
  if (identity.by === 'id')
    return [{ field: 'id', others: ({ scalars, arrays, extra }) => [scalars, arrays, extra] }];
  const names = scalarFields(list).map(({ name }) => name);
  return identity.fields.map(field => {
    const places = identity.fields.filter(name => name !== field).map(name => names.indexOf(name));
    return { field, others: ({ scalars }): (Scalar | undefined)[] => places.map(at => scalars[at]) };
  });
}

/** Records without one identity field; each must be found once. */
class Sought {
  readonly field: string;
  readonly #others: IdentityPart['others'];
  readonly #counts = new Map<string, number>();
  #left: number;

  constructor({ field, others }: IdentityPart, records: readonly RecordValues[]) {
    this.field = field;
    this.#others = others;
    this.#left = records.length;
    for (const record of records) this.#counts.set(this.#keyOf(record), (this.#countOf(record) ?? 0) + 1);
  }

  /** Whether this record is the last one that was missing. */
  isFound(record: RecordValues): boolean {
    const count = this.#countOf(record) ?? 0;
    if (count === 0) return false;
    this.#counts.set(this.#keyOf(record), count - 1);
    return --this.#left === 0;
  }

  #countOf(record: RecordValues): number | undefined {
    return this.#counts.get(this.#keyOf(record));
  }

  #keyOf(record: RecordValues): string {
    return JSON.stringify(this.#others(record));
  }
}
