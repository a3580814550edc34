import type Database from 'better-sqlite3';
import { isObject } from '../../contract/json.ts';
import { type ListDefinition, timeFieldOf } from '../../contract/lists.ts';
import { identityOf, type Rejection, readOne } from '../../contract/record.ts';
import { hash16 } from '../../contract/sum.ts';
import type { ListContext } from './mirror.ts';
import type { ReadList } from './sync-state.ts';

/** The records of a list that this run could not read. */
export class RejectedRecords {
  readonly #list: ListDefinition;
  readonly #records = new Map<string, ReturnType<typeof newRejected>>();

  constructor(list: ListDefinition) {
    this.#list = list;
  }

  /** Notes the rejections of a page, before which `begin` records of the list come, and returns what can still be read of each. */
  add(rejections: readonly Rejection[], begin: number) {
    const onPage = new Map<string, number>();
    return rejections.map(({ record, position, reason }) => {
      const count = (onPage.get(record) ?? 0) + 1;
      onPage.set(record, count);
      const known = this.#records.get(record) ?? newRejected(this.#list, record, reason, begin + position);
      this.#records.set(record, known);
      known.count = Math.max(known.count, count);
      return { position, key: known.key, content: known.content };
    });
  }

  get all() {
    return [...this.#records.values()];
  }

  get count(): number {
    return this.all.reduce((sum, { count }) => sum + count, 0);
  }

  /** Whether one of them is completely unreadable, and was not there in the clean run. */
  hasUnreadableNew(sqlite: Database.Database, cleanRunId: number): boolean {
    const known = sqlite
      .prepare<unknown[], number>(
        'SELECT count(*) FROM rejected_records WHERE resource = ? AND content = ? AND ? BETWEEN run_id AND last_run_id',
      )
      .pluck();
    return this.all
      .filter(({ identity }) => identity === null)
      .some(each => (known.get(this.#list.resource, each.content, cleanRunId) as number) < each.count); // guard: unreadable records
  }

  /** Writes them. Of a text that an earlier run rejected, only `last_run_id` changes. */
  write({ runId, sqlite }: ListContext, { firstPageNo, pageSize }: ReadList): void {
    if (this.count === 0) return;
    const { resource } = this.#list;
    const moveOn = sqlite.prepare('UPDATE rejected_records SET last_run_id = ? WHERE id = ?');
    const insert = sqlite.prepare(
      `INSERT INTO rejected_records (run_id, last_run_id, resource, page_no, position, reason, record, content)
       VALUES (@runId, @runId, @resource, @pageNo, @position, @reason, @record, @content)`,
    );
    const known = sqlite.prepare<[string, number], { id: number; content: Buffer }>(
      'SELECT id, content FROM rejected_records WHERE resource = ? AND last_run_id < ? ORDER BY id DESC',
    );
    const before = Map.groupBy(known.all(resource, runId), ({ content }) => content.toString('hex'));
    for (const { place, reason, record, content, count } of this.all.sort((a, b) => a.place - b.place)) {
      const [pageNo, position] = [firstPageNo + Math.floor(place / pageSize), place % pageSize];
      for (let time = 0; time < count; time++) {
        const oldest = before.get(content.toString('hex'))?.pop();
        if (oldest !== undefined) moveOn.run(runId, oldest.id);
        else insert.run({ runId, resource, pageNo, position, reason, record, content });
      }
    }
  }
}

/** @param place where in the list it was seen first, from 0. */
function newRejected(list: ListDefinition, record: string, reason: string, place: number) {
  const item: unknown = JSON.parse(record);
  // What is wrong with its other fields, or with a connection's name, does not matter for its key and its identity.
  const read = (names: readonly string[]) => {
    if (!isObject(item)) return undefined;
    const parts = names.map(name => {
      const value = item[name];
      return [name, isObject(value) ? { id: value.id ?? null } : value];
    });
    return readOne(list, JSON.stringify(Object.fromEntries(parts)));
  };
  const whole = read(list.identity.by === 'id' ? ['id'] : list.identity.fields);
  return {
    reason,
    record,
    place,
    content: hash16(record),
    /** Its id, or its time in milliseconds; NaN if it can't be read. */
    key: (whole ?? read([timeFieldOf(list)?.name ?? 'id']))?.key ?? Number.NaN,
    /** Its identity, as `identityOf` returns it; null if that can't be read. */
    identity: whole === undefined ? null : identityOf(list, whole),
    /** The most of them on one page. */
    count: 1,
  };
}
