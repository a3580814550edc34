import type Database from 'better-sqlite3';
import { isObject } from '../../contract/json.ts';
import { type ListDefinition, timeFieldOf } from '../../contract/lists.ts';
import { identityOf, type Rejection, readOne } from '../../contract/record.ts';
import { hash16 } from '../../contract/sum.ts';
import type { ReadList } from './memory.ts';
import type { ListContext } from './mirror.ts';

/** A record that can't be read. */
interface RejectedRecord extends Rejection {
  /** Its id, or its time in milliseconds; NaN if it can't be read. */
  readonly key: number;
  /** Its identity, as `identityOf` returns it; null if that can't be read. */
  readonly identity: string | null;
  readonly content: Buffer;
  /** The place in the list where it was seen first, from 0. */
  readonly place: number;
  /** The most of them on one page. */
  count: number;
}

/** The records of a list that this run could not read. */
export class RejectedRecords {
  readonly #list: ListDefinition;
  readonly #records = new Map<string, RejectedRecord>();

  constructor(list: ListDefinition) {
    this.#list = list;
  }

  /** Notes the rejections of a page, before which `begin` records of the list come, and returns them in the same order. */
  add(rejections: readonly Rejection[], begin: number): RejectedRecord[] {
    const onPage = new Map<string, number>();
    return rejections.map(rejection => {
      const { record, position } = rejection;
      const count = (onPage.get(record) ?? 0) + 1;
      onPage.set(record, count);
      const known = this.#records.get(record) ?? {
        ...rejection,
        ...identify(this.#list, record),
        content: hash16(record),
        place: begin + position,
        count,
      };
      this.#records.set(record, known);
      known.count = Math.max(known.count, count);
      return known;
    });
  }

  get all(): RejectedRecord[] {
    return [...this.#records.values()];
  }

  get count(): number {
    return this.all.reduce((sum, { count }) => sum + count, 0);
  }

  /** Whether one of them is completely unreadable, and was not there in the settled run. */
  hasUnreadableNew(sqlite: Database.Database, settledRunId: number): boolean {
    const known = sqlite
      .prepare<unknown[], number>(
        'SELECT count(*) FROM rejected_records WHERE resource = ? AND content = ? AND ? BETWEEN run_id AND last_run_id',
      )
      .pluck();
    return this.all
      .filter(({ identity }) => identity === null)
      .some(each => (known.get(this.#list.resource, each.content, settledRunId) as number) < each.count); // guard: unreadable records
  }
}

/** The key and the identity of a rejected record: what is wrong with its other fields, or with a connection's name, does not matter here. */
function identify(list: ListDefinition, json: string): Pick<RejectedRecord, 'key' | 'identity'> {
  const item: unknown = JSON.parse(json);
  const read = (names: readonly string[]) => {
    const parts = names.map(name => {
      const value = isObject(item) ? item[name] : null;
      return [name, isObject(value) ? { id: value.id ?? null } : value];
    });
    return readOne(list, JSON.stringify(Object.fromEntries(parts)));
  };
  const { identity } = list;
  const whole = read(identity.by === 'id' ? ['id'] : identity.fields);
  const { key = Number.NaN } = whole ?? read([timeFieldOf(list)?.name ?? 'id']) ?? {};
  return { key, identity: whole === undefined || !isObject(item) ? null : identityOf(list, whole) };
}

/** Writes the records that this run could not read. Of a text that an earlier run rejected, only `last_run_id` changes. */
export function writeRejected(
  { list, run, file: { sqlite } }: ListContext,
  rejected: RejectedRecords,
  read: ReadList,
) {
  if (rejected.count === 0) return;
  const { firstPageNo, pageSize } = read;
  const moveOn = sqlite.prepare('UPDATE rejected_records SET last_run_id = ? WHERE id = ?');
  const insert = sqlite.prepare(
    `INSERT INTO rejected_records (run_id, last_run_id, resource, page_no, position, reason, record, content)
     VALUES (@run, @run, @resource, @pageNo, @position, @reason, @record, @content)`,
  );
  const known = sqlite.prepare<[string, number], { id: number; content: Buffer }>(
    'SELECT id, content FROM rejected_records WHERE resource = ? AND last_run_id < ? ORDER BY id DESC',
  );
  const before = Map.groupBy(known.all(list.resource, run.id), ({ content }) => content.toString('latin1'));
  for (const { place, reason, record, content, count } of rejected.all.sort((a, b) => a.place - b.place)) {
    const [pageNo, position] = [firstPageNo + Math.floor(place / pageSize), place % pageSize];
    for (let time = 0; time < count; time++) {
      const oldest = before.get(content.toString('latin1'))?.pop();
      if (oldest !== undefined) moveOn.run(run.id, oldest.id);
      else insert.run({ run: run.id, resource: list.resource, pageNo, position, reason, record, content });
    }
  }
}
