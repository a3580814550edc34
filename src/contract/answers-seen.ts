/** Of so many answers of a list in a run, the first ones, times and sizes are kept. */
const samplesMax = 10_000;
/** So many different failures are counted. */
const failuresMax = 20;

/** What an answer is beside its page. */
export interface AnswerSight {
  /** From the request to the last byte, in milliseconds. */
  readonly ms: number;
  /** Bytes of the body as received. */
  readonly received: number;
  readonly isCompressed: boolean;
  readonly hasEtag: boolean;
  /** What `Retry-After` is; null if there is none. */
  readonly retryAfter: 'seconds' | 'date' | 'other' | null;
}

/** What the envelope of a page is, as `Page` has it. */
interface Envelope {
  readonly ageMs: number;
  readonly textNumbers?: readonly string[];
  readonly isTotalNegative?: boolean;
}

/** What a run sees of the answers of a list beside their records: no text of the service. */
export class AnswersSeen {
  count = 0;
  readonly ms: number[] = [];
  readonly received: number[] = [];
  compressed = 0;
  withEtag = 0;
  /** Null if no answer had an `Age`. */
  ageMsMax: number | null = null;
  negativeTotals = 0;
  /** The members of the last page's `pagination` that are texts. */
  textNumbers: readonly string[] = [];
  /** How many answers were no page, by status or, without an answer, by the code of the error. */
  readonly failures = new Map<string, number>();
  retryAfter: { readonly form: string; readonly mostMs: number } | null = null;

  page(page: Envelope, answer: AnswerSight, waitMs: number | null): void {
    this.count++;
    for (const [samples, value] of [[this.ms, answer.ms] as const, [this.received, answer.received] as const])
      if (samples.length < samplesMax) samples.push(value);
    if (answer.isCompressed) this.compressed++;
    if (answer.hasEtag) this.withEtag++;
    if (page.ageMs > 0) this.ageMsMax = Math.max(page.ageMs, this.ageMsMax ?? 0);
    if (page.isTotalNegative) this.negativeTotals++;
    this.textNumbers = page.textNumbers ?? [];
    this.#wait(answer.retryAfter, waitMs);
  }

  failure(what: string, retryAfter: AnswerSight['retryAfter'], waitMs: number | null): void {
    if (this.failures.has(what) || this.failures.size < failuresMax)
      this.failures.set(what, (this.failures.get(what) ?? 0) + 1);
    this.#wait(retryAfter, waitMs);
  }

  #wait(form: AnswerSight['retryAfter'], waitMs: number | null): void {
    if (form !== null)
      this.retryAfter = { form, mostMs: Math.max(waitMs ?? 0, this.retryAfter?.mostMs ?? 0) };
  }
}

/** What a run sees of a service. */
export class ServiceSeen {
  readonly #lists = new Map<string, AnswersSeen>();
  /** For how long the service accepted the last token that it refused later, in milliseconds; null if it refused none. */
  tokenMs: number | null = null;

  /** What was seen of a list since this was asked; undefined if nothing was. */
  take(resource: string): AnswersSeen | undefined {
    const seen = this.#lists.get(resource);
    this.#lists.delete(resource);
    return seen;
  }

  of(resource: string): AnswersSeen {
    const seen = this.#lists.get(resource) ?? new AnswersSeen();
    this.#lists.set(resource, seen);
    return seen;
  }
}
