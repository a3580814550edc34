// Of all phases: what a proof asks, and what it is told. It is pure but for that.

import type { Answer, Ask, Shown } from './answers.ts';
import type { Finding } from './findings.ts';

/** Pages to ask for together, as many at once as you like. The rest of a batch is not asked for once `stop` is true of an answer. */
export interface Batch {
  readonly kind: 'pages';
  readonly pages: readonly Ask[];
  readonly stop: (answer: Answer) => boolean;
  /** Why the list is read once more from its first page; null if it is not. */
  readonly again: readonly Finding[] | null;
  /** Whether answers of an earlier run do, whose reading ended early. */
  readonly mayRecall: boolean;
  /** Whether it is a part of the pages of a plan, so that the reading can pause behind it. */
  readonly isPart: boolean;
}

/**
 * What a part of a proof asks: for pages of the service; for the mirror's rows that no answer leaves room for, where each of `merged` are
 * records of several pages that count as one answer; or how many records the answers have that the mirror does not have, each once.
 */
export type Question =
  | Batch
  | { readonly kind: 'absent'; readonly merged: readonly Shown[] }
  | { readonly kind: 'added' };

/** What it is told: answers in the order of their arrival, fewer if one of them ends the batch; rows; or a number. */
export type Reply =
  | { readonly kind: 'pages'; readonly answers: readonly Answer[] }
  | { readonly kind: 'absent'; readonly rows: readonly AbsentRow[] }
  | { readonly kind: 'added'; readonly count: number };

/** A part of a proof: it yields questions, receives replies, and returns a result. Nothing else comes in. */
export type Asking<Result> = Generator<Question, Result, Reply>;

/** Asks one question, and hands on the reply, which has to be of its kind. */
export function* askOne<Kind extends Question['kind']>(
  question: Extract<Question, { readonly kind: Kind }>,
): Asking<Extract<Reply, { readonly kind: Kind }>> {
  const reply = yield question;
  if (reply.kind !== question.kind) throw new TypeError(`A question was answered by ${reply.kind}.`);
  return reply as Extract<Reply, { readonly kind: Kind }>;
}

/** A row that no answer has shown. */
export interface AbsentRow {
  readonly id: number;
  /** NaN if it has none. */
  readonly key: number;
}

/** A reading ends before its proof does: it took too many requests, or something keeps it from going on, with the answers that had come. */
export class EndedEarly extends Error {
  readonly finding: Finding;
  readonly answers: readonly Answer[];

  constructor(finding: Finding, answers: readonly Answer[] = []) {
    super(finding.code);
    this.finding = finding;
    this.answers = answers;
  }
}
