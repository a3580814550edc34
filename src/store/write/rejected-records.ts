import type { ListDefinition } from '../../contract/lists.ts';
import type { Rejection } from '../../contract/record.ts';
import { keyOfRejected, type RejectedKey } from '../../contract/record-key.ts';
import { hash16 } from '../../contract/sum.ts';

/** A record that can't be read, with its highest count on one page. */
export interface RejectedRecord extends RejectedKey {
  readonly reason: string;
  /** Its text as received. */
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
}
