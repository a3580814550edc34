import type { ErrorCode } from '../errors.ts';
import type { AskedFor, Site } from './address.ts';
import type { LabelledFigures } from './metrics.ts';
import type { FreshnessNow } from './probes.ts';
import type { QueryString } from './query.ts';

// What the server and its threads that read say to each other. All of it can be cloned.

/** What a thread gets when it starts. */
export interface ReaderData extends Site {
  readonly labels: Readonly<Record<string, string>>;
  readonly trigger: string | null;
  /** True if it leaves the processor to others. */
  readonly isBehind: boolean;
}

/** What a thread is asked for. After `file`, each `more` asks for the next piece; `stop` ends it. */
export type Work =
  | { readonly kind: 'freshness' }
  | { readonly kind: 'figures' }
  /** `path` is that of the address, with its parameters' names. A HEAD is checked, and has no body. */
  | { readonly kind: 'page'; readonly path: string; readonly asked: AskedFor; readonly isHead: boolean }
  | { readonly kind: 'file'; readonly name: string; readonly query: QueryString }
  | { readonly kind: 'more' }
  | { readonly kind: 'stop' };

/** An error of a thread: what the client is told, and what the log is. */
export interface ReaderFailure {
  readonly statusCode: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The code of an error that docmirror knows; null for any other. */
  readonly code: ErrorCode | null;
  readonly error: Error;
}

/** What a thread answers. */
export type Said =
  | { readonly kind: 'freshness'; readonly freshness: FreshnessNow }
  | { readonly kind: 'figures'; readonly figures: LabelledFigures }
  | { readonly kind: 'page'; readonly body: string | null; readonly revision: string }
  /** The number of rows in the pieces that follow, without the heading. */
  | { readonly kind: 'begun'; readonly count: number }
  | { readonly kind: 'piece'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly failure: ReaderFailure };
