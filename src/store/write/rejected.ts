import type Database from 'better-sqlite3';
import type { ListDefinition } from '../../contract/lists.ts';
import type { Rejection } from '../../contract/record.ts';
import { keyOfRejected, type RejectedKey } from '../../contract/record-key.ts';
import { hash16 } from '../../contract/sum.ts';
import type { ReadList } from './memory.ts';
import type { ListContext } from './mirror.ts';

/** A record that can't be read, with its highest count on one page. */
export interface RejectedRecord extends RejectedKey {
  readonly reason: string;
  /** Compact JSON. */
  readonly text: string;
  readonly content: Buffer;
  /** The place in the list where it was seen first, from 0. */
  readonly place: number;
  count: number;
}

/** The records of a list that this run could not read. */
export class RejectedRecords {
  readonly #list: ListDefinition;
  readonly #records = new Map<string, RejectedRecord>();

  constructor(list: ListDefinition) {
    this.#list = list;
  }

  /**
   * Notes the rejections of a page.
   *
   * @param begin how many records of the list come before the page.
   * @returns them in the same order.
   */
  add(rejections: readonly Rejection[], begin: number): RejectedRecord[] {
    const onPage = new Map<string, number>();
    return rejections.map(({ position, reason, record: text }) => {
      const content = hash16(text);
      const name = content.toString('latin1');
      const count = (onPage.get(name) ?? 0) + 1;
      onPage.set(name, count);
      let known = this.#records.get(name);
      if (known === undefined) {
        const place = begin + position;
        known = { ...keyOfRejected(this.#list, text), reason, text, content, place, count };
        this.#records.set(name, known);
      }
      known.count = Math.max(known.count, count);
      return known;
    });
  }

  get all(): RejectedRecord[] {
    return [...this.#records.values()].sort((a, b) => a.place - b.place);
  }

  get count(): number {
    let count = 0;
    for (const record of this.#records.values()) count += record.count;
    return count;
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

/**
 * Writes the records of a list that this run could not read. If an earlier run rejected the same text, it is not stored again: only its
 * `last_run_id` changes.
 */
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
     VALUES (@run, @run, @resource, @pageNo, @position, @reason, @text, @content)`,
  );
  const known = sqlite.prepare<[string, number], { id: number; content: Buffer }>(
    'SELECT id, content FROM rejected_records WHERE resource = ? AND last_run_id < ? ORDER BY id DESC',
  );
  const before = Map.groupBy(known.all(list.resource, run.id), ({ content }) => content.toString('latin1'));
  for (const { place, reason, text, content, count } of rejected.all) {
    const [pageNo, position] = [firstPageNo + Math.floor(place / pageSize), place % pageSize];
    for (let time = 0; time < count; time++) {
      const oldest = before.get(content.toString('latin1'))?.pop();
      if (oldest !== undefined) moveOn.run(run.id, oldest.id);
      else insert.run({ run: run.id, resource: list.resource, pageNo, position, reason, text, content });
    }
  }
}
