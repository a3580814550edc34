import { setImmediate as nextTurn } from 'node:timers/promises';
import { Random } from '../../examples/sample-service/random.ts';

/** Turns of the event loop without a new request after which the reader is taken to wait for an answer. */
const quietTurns = 4;

interface Held<Q, A> {
  readonly question: Q;
  answer: { readonly value: A } | null;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Delays requests until the reader does nothing but wait, and then serves or delivers one of them, by a drawn order. So
 * answers overtake each other on each machine in the same way, whatever the time.
 */
export class Gate<Q, A> {
  readonly #serve: (question: Q) => A;
  /** Draws the order; null: one after the other, as they were asked. */
  readonly #random: Random | null;
  readonly #held: Held<Q, A>[] = [];
  #asked = 0;
  #isPumping = false;

  /** `serve` makes the answer, at the instant at which the service works on the question. */
  constructor(serve: (question: Q) => A, schedule: number) {
    this.#serve = serve;
    this.#random = schedule === 0 ? null : new Random(schedule);
  }

  /**
   * Asks, and waits for its turn. If `serve` throws, the answer is rejected.
   *
   * @throws the signal's reason, at once, when it is aborted.
   */
  ask(question: Q, signal: AbortSignal): Promise<A> {
    signal.throwIfAborted();
    this.#asked++;
    const { promise, resolve, reject } = Promise.withResolvers<A>();
    const held: Held<Q, A> = { question, answer: null, resolve, reject };
    this.#held.push(held);
    const end = () => {
      this.#drop(held);
      reject(signal.reason);
    };
    signal.addEventListener('abort', end, { once: true });
    if (!this.#isPumping) void this.#pump();
    return promise.finally(() => signal.removeEventListener('abort', end));
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    while (this.#held.length > 0) {
      await this.#untilQuiet();
      this.#step();
    }
    this.#isPumping = false;
  }

  async #untilQuiet(): Promise<void> {
    let asked = this.#asked;
    for (let turns = 0; turns < quietTurns; turns++) {
      await nextTurn();
      if (asked !== this.#asked) turns = 0;
      asked = this.#asked;
    }
  }

  #step(): void {
    const [oldest] = this.#held;
    if (oldest === undefined) return;
    if (this.#random === null) {
      this.#work(oldest);
      this.#deliver(oldest);
      return;
    }
    const unserved = this.#held.filter(({ answer }) => answer === null);
    const served = this.#held.filter(({ answer }) => answer !== null);
    const some = unserved.length > 0 && (served.length === 0 || this.#random.chance(0.5)) ? unserved : served;
    const chosen = some[this.#random.integer(0, some.length - 1)];
    if (chosen === undefined) return;
    if (chosen.answer === null) this.#work(chosen);
    else this.#deliver(chosen);
  }

  #work(held: Held<Q, A>): void {
    try {
      held.answer = { value: this.#serve(held.question) };
    } catch (error) {
      this.#drop(held);
      held.reject(error);
    }
  }

  #deliver(held: Held<Q, A>): void {
    if (held.answer === null) return;
    this.#drop(held);
    held.resolve(held.answer.value);
  }

  #drop(held: Held<Q, A>): void {
    const at = this.#held.indexOf(held);
    if (at >= 0) this.#held.splice(at, 1);
  }
}
