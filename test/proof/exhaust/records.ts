import type { Identity } from '../../../src/proof/keys.ts';
import {
  ofId,
  ofRow,
  ofText,
  type PageItems,
  type RecordNo,
  showing,
} from '../../../src/proof/page-items.ts';
import type * as Core from './core.ts';

/** A record of a made-up list. An edit replaces it by one with another version. */
export interface WorldRecord {
  /** The same as long as it lives, whatever is edited; unique in its world. */
  readonly id: number;
  /** The key that orders the list; NaN if the order is not visible. */
  readonly key: number;
  /** Two records with the same content are twins. */
  readonly content: number;
  /** In a list without ids: records that share it are told apart by nothing but their text. The content it began with, if it is left out. */
  readonly identity?: number;
  /** How often it was exported again; then it has another time. */
  readonly exports?: number;
  /** The content before its last edit. */
  readonly before?: number;
}

const ofNextExport = 100_000;

/** The number of a record, as docmirror would give it: an edit does not change it. */
export function recordNumber({ key, content, identity, exports = 0 }: WorldRecord, by: Identity): RecordNo {
  return by === 'id' ? ofId(key) : ofRow((identity ?? content) + exports * ofNextExport);
}

/** The number of pages that are kept. */
const madeMax = 20_000;

/** Makes pages, and makes each only once. */
export class Pages {
  readonly #core: typeof Core;
  readonly #identity: Identity;
  readonly #made = new Map<string, PageItems>();

  constructor(core: typeof Core, identity: Identity) {
    this.#core = core;
    this.#identity = identity;
  }

  make(records: readonly WorldRecord[]): PageItems {
    let digest = '';
    for (const record of records)
      digest += `${record.key}:${record.content}:${recordNumber(record, this.#identity)},`;
    const known = this.#made.get(digest);
    if (known !== undefined) return known;
    if (this.#made.size > madeMax) this.#made.clear();
    const keys = Float64Array.from(records, ({ key }) => key);
    const shown = records.map(record => ({
      record: recordNumber(record, this.#identity),
      version: ofText(record.content),
    }));
    const made = new this.#core.PageItems(digest, keys, showing(shown), this.#identity);
    this.#made.set(digest, made);
    return made;
  }
}
