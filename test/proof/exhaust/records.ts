import { contentBytes, Sum } from '../../../src/contract/sum.ts';
import type { Identity, PageItems, PageSummary } from '../../../src/proof/windows/page.ts';
import type * as Core from './core.ts';

/** A record of a made-up list. An edit replaces it by one with another version. */
export interface WorldRecord {
  /** The same as long as it lives, whatever is edited; unique in its world. */
  readonly id: number;
  /** The key that orders the list; NaN if the order is not visible. */
  readonly key: number;
  /** Two records with the same content are twins. */
  readonly content: number;
}

/** Contents are numbers here; as 16 bytes they are spread, because docmirror's are hashes. */
function writeContent(content: number, bytes: Uint8Array, offset: number): void {
  let state = (content + 1) * 0x9e3779b1;
  for (let at = 0; at < contentBytes; at++) {
    state = Math.imul(state ^ (state >>> 13), 0x5bd1e995) + content + at;
    bytes[offset + at] = state >>> 24;
  }
}

/** The items of a page, as docmirror reads them. In a list with ids the key is the id. */
export function itemsOf(records: readonly WorldRecord[]): PageItems {
  const keys = new Float64Array(records.length);
  const contents = new Uint8Array(records.length * contentBytes);
  for (const [at, { key, content }] of records.entries()) {
    keys[at] = key;
    writeContent(content, contents, at * contentBytes);
  }
  return { keys, contents };
}

/** A page's summary with the items that it is made of. */
export interface MadePage {
  readonly items: PageItems;
  readonly summary: PageSummary;
}

/** The number of pages that are kept. */
const madeMax = 20_000;

const emptySum = new Sum();

/** Makes pages, and makes each only once. */
export class Pages {
  readonly #core: typeof Core;
  readonly #identity: Identity;
  readonly #hasSums: boolean;
  readonly #made = new Map<string, MadePage>();

  /** @param hasSums whether pages have the sums of their records; only plain readings look at them. */
  constructor(core: typeof Core, identity: Identity, hasSums = false) {
    this.#core = core;
    this.#identity = identity;
    this.#hasSums = hasSums;
  }

  make(records: readonly WorldRecord[]): MadePage {
    let digest = '';
    for (const { key, content } of records) digest += `${key}:${content},`;
    const known = this.#made.get(digest);
    if (known !== undefined) return known;
    if (this.#made.size > madeMax) this.#made.clear();
    const items = itemsOf(records);
    const { sum, ...rest } = this.#core.summaryOf(items, digest, this.#identity);
    const summary = { ...rest, sum: this.#hasSums ? sum : emptySum };
    const made = { items, summary };
    this.#made.set(digest, made);
    return made;
  }
}
