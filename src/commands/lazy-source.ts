import type { ListDefinition } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import type { PageRequest, PageSource, Traffic } from '../contract/run.ts';
import type { Service } from '../service/service.ts';

const noTraffic: Traffic = { requests: 0, retries: 0, bytes: 0, waitedMs: 0 };

/** The service, opened when a run first asks for a page: a run whose token can't be had is recorded, too, and each list says why. */
export class LazySource implements PageSource {
  readonly baseUrl: string;
  readonly #open: () => Promise<Service>;
  readonly #concurrency: number;
  #opening: Promise<Service> | undefined;
  #service: Service | undefined;

  /** @param concurrency the number of concurrent requests at first. */
  constructor(baseUrl: string, concurrency: number, open: () => Promise<Service>) {
    this.baseUrl = baseUrl;
    this.#concurrency = concurrency;
    this.#open = open;
  }

  get traffic(): Traffic {
    return this.#service?.traffic ?? noTraffic;
  }

  get concurrency(): number {
    return this.#service?.concurrency ?? this.#concurrency;
  }

  async getPage(
    list: ListDefinition,
    request: PageRequest,
    signal: AbortSignal,
    isKnown?: (itemsDigest: string) => boolean,
  ): Promise<Page> {
    this.#opening ??= this.#open();
    this.#service ??= await this.#opening;
    return this.#service.getPage(list, request, signal, isKnown);
  }

  async close(): Promise<void> {
    await this.#service?.close();
  }
}
