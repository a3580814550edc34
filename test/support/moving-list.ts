import type { ListDefinition } from '../../src/contract/lists.ts';
import type { Page, PageRequest, PageSource } from '../../src/contract/page.ts';
import { ServiceError } from '../../src/errors.ts';
import { readPage } from '../../src/service/page.ts';

/** A document export in a list that moves. Only the test sees its `uid`. */
export interface Entry {
  readonly uid: number;
  /** Identifies it for docmirror; twins share it. */
  readonly reference: number;
  readonly title: number;
}

/** One change of the list; positions are taken modulo its length. */
export type Move =
  | { readonly kind: 'insert' | 'delete' | 'update' | 'twin'; readonly at: number }
  | { readonly kind: 'move'; readonly at: number; readonly to: number };

/** The changes before each request: `script[n]` before the nth one. */
export type Script = readonly (readonly Move[])[];

/**
 * A service of one list that changes between any two requests, as a source of pages without HTTP: so that thousands of
 * walks can be tried in seconds. Answers come in another order than they were asked for.
 */
export class MovingList implements PageSource {
  readonly baseUrl = 'https://moving.example';
  readonly concurrency: number;
  readonly pageSize: number;
  entries: Entry[];
  /** The script of the next run, for tests that play it later. */
  script: Script = [];
  #script: Script = [];
  #requests = 0;
  #nextUid = 1_000;

  constructor(count: number, pageSize: number, concurrency: number) {
    this.entries = Array.from({ length: count }, (_, at) => ({ uid: at, reference: at, title: 0 }));
    this.pageSize = pageSize;
    this.concurrency = concurrency;
  }

  get traffic(): PageSource['traffic'] {
    return { requests: this.#requests, retries: 0, bytes: 0, waitedMs: 0 };
  }

  get requests(): number {
    return this.#requests;
  }

  /** Starts a new run, with what will happen during it. */
  play(script: Script): void {
    this.#script = script;
    this.#requests = 0;
  }

  async getPage(list: ListDefinition, { pageNo, pageSize }: PageRequest): Promise<Page> {
    const moves = this.#script[this.#requests++] ?? [];
    for (const move of moves) this.change(move);
    if (list.resource !== 'document-exports') return answer([], 0, 1, this.pageSize);
    const page = this.#answer(pageNo ?? 1, pageSize ?? this.pageSize);
    // A macrotask or two later, so that requests in flight overtake each other.
    for (let turns = this.#requests % 3; turns > 0; turns--) await new Promise(setImmediate);
    return page;
  }

  change(move: Move): void {
    const { entries } = this;
    const at = entries.length === 0 ? 0 : move.at % entries.length;
    const uid = this.#nextUid++;
    if (move.kind === 'insert')
      entries.splice(move.at % (entries.length + 1), 0, { uid, reference: uid, title: 0 });
    else if (entries.length > 0) this.#changeEntry(move, at, uid);
  }

  #changeEntry(move: Move, at: number, uid: number): void {
    const { entries } = this;
    const entry = entries[at] as Entry;
    if (move.kind === 'delete') entries.splice(at, 1);
    if (move.kind === 'update') entries[at] = { ...entry, title: uid };
    if (move.kind === 'twin') entries.splice(at, 0, { ...entry, uid });
    if (move.kind === 'move') entries.splice(move.to % entries.length, 0, ...entries.splice(at, 1));
  }

  #answer(pageNo: number, pageSize: number): Page {
    const total = this.entries.length;
    if (pageNo > 1 && (pageNo - 1) * pageSize >= total) {
      throw new ServiceError('not_found', 'there is no page at this address', { retryable: false });
    }
    const items = this.entries.slice((pageNo - 1) * pageSize, pageNo * pageSize);
    return answer(items.map(toItem), total, pageNo, pageSize);
  }
}

/** A page as a service without HTTP answers it. */
export function answer(items: object[], totalRecordCount: number, pageNo: number, pageSize: number): Page {
  const pageCount = Math.ceil(totalRecordCount / pageSize);
  const pagination = { pageCount, pageNo, pageSize, totalRecordCount };
  return readPage(Buffer.from(JSON.stringify({ items, pagination })), '');
}

export function toItem({ reference, title, exported = reference }: Entry & { exported?: number }) {
  return {
    sourceConnection: { id: 1 + (Math.floor(reference) % 3), name: `C${Math.floor(reference) % 3}` },
    sourceDocumentTitle: `title ${title}`,
    sourceDocumentReference: `R${reference}`,
    exportedAt: new Date(1_700_000_000_000 + exported * 1000).toISOString(),
  };
}

/** A record as the mirror and the test both know it. */
export function labelOf({ reference, title }: Entry): string {
  return `R${reference} title ${title}`;
}
