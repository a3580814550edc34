import fc from 'fast-check';
import type { ListDefinition, ResourceName } from '../../src/contract/lists.ts';
import type { Page, PageRequest, PageSource } from '../../src/contract/page.ts';
import { answer } from './moving-list.ts';

/** A change at the service between two runs. Numbers are taken modulo what there is. */
export interface Event {
  readonly kind: 'insert' | 'remove' | 'return' | 'update' | 'relink' | 'twin' | 'rename';
  /** A twin is always a document export, and a connection is renamed in all lists. */
  readonly list: ResourceName;
  readonly at: number;
}

const resources: readonly ResourceName[] = ['document-exports', 'collections', 'webhooks'];

export const events: fc.Arbitrary<Event[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('insert', 'remove', 'return', 'update', 'relink', 'twin', 'rename', 'rename'),
    list: fc.constantFrom(...resources),
    at: fc.nat(50),
  }),
  { maxLength: 8 },
);

/** A record as the model knows it: `connections` are ids, for names are the connection's. */
interface Entry {
  readonly id: number;
  readonly text: number;
  readonly connections: readonly number[];
}

const connectionCount = 6;
const pageSize = 4;

/** A service of three lists whose every state is known. Tests compare the history with it. */
export class ModelService implements PageSource {
  readonly baseUrl = 'https://model.example';
  readonly concurrency = 2;
  readonly traffic = { requests: 0, retries: 0, bytes: 0, waitedMs: 0 };
  readonly #lists: Record<ResourceName, Entry[]> = { 'document-exports': [], collections: [], webhooks: [] };
  readonly #gone: Record<ResourceName, Entry[]> = { 'document-exports': [], collections: [], webhooks: [] };
  readonly #names = new Map<number, number>();
  #nextId = 1;

  play(list: readonly Event[]): void {
    for (const event of list) this.#happen(event);
  }

  /** The items of a list as the service sends them, in one text each, sorted. */
  items(resource: ResourceName): string[] {
    return this.#items(resource)
      .map(item => JSON.stringify(item))
      .sort();
  }

  async getPage({ resource }: ListDefinition, request: PageRequest): Promise<Page> {
    const pageNo = request.pageNo ?? 1;
    const size = Math.min(request.pageSize ?? pageSize, pageSize);
    const items = this.#items(resource);
    return answer(items.slice((pageNo - 1) * size, pageNo * size), items.length, pageNo, size);
  }

  #items(resource: ResourceName): object[] {
    return this.#lists[resource].map(entry => this.#toItem(resource, entry));
  }

  #happen(event: Event): void {
    if (event.kind === 'rename') {
      const id = 1 + (event.at % connectionCount);
      this.#names.set(id, (this.#names.get(id) ?? 0) + 1);
      return;
    }
    const list = event.kind === 'twin' ? 'document-exports' : event.list;
    const entries = this.#lists[list];
    if (event.kind === 'insert') {
      const id = this.#nextId++;
      entries.push({ id, text: 0, connections: [1 + (event.at % connectionCount)] });
    }
    if (event.kind === 'return')
      entries.push(...this.#gone[list].splice(event.at % Math.max(1, this.#gone[list].length), 1));
    if (entries.length > 0) this.#change(event, list, event.at % entries.length);
  }

  #change({ kind, at: number }: Event, list: ResourceName, index: number): void {
    const entries = this.#lists[list];
    const entry = entries[index] as Entry;
    if (kind === 'remove') this.#gone[list].push(...entries.splice(index, 1));
    if (kind === 'twin') entries.push(entry);
    if (kind === 'update') entries[index] = { ...entry, text: entry.text + 1 };
    if (kind === 'relink') entries[index] = { ...entry, connections: linksOf(number, list) };
  }

  #toItem(resource: ResourceName, { id, text, connections }: Entry): object {
    const refs = connections.map(each => ({ id: each, name: `C${each} v${this.#names.get(each) ?? 0}` }));
    const own = { endpoint: `https://h/${text}`, description: null, events: [`e${text}`] };
    if (resource === 'webhooks') return { id, ...own, connections: refs };
    const [sourceConnection = null, destinationConnection = null] = refs;
    if (resource === 'collections') return { id, name: `n${text}`, sourceConnection, destinationConnection };
    return {
      sourceConnection,
      sourceDocumentTitle: `t${text}`,
      sourceDocumentReference: `R${id}`,
      sourceDocumentVersion: null,
      sourceDocumentKind: null,
      destinationConnection,
      destinationReference: null,
      exportedAt: new Date(1_700_000_000_000 + id * 1000).toISOString(),
    };
  }
}

/** No links for a multiple of 4; webhooks can have more than two. */
function linksOf(number: number, list: ResourceName): number[] {
  const count = Math.min(number % 4, list === 'webhooks' ? 3 : 2);
  return Array.from({ length: count }, (_, index) => 1 + ((number + index) % connectionCount));
}
