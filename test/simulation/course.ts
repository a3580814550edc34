import { CancelledError, MirrorAlteredError } from '../../src/errors.ts';
import type { Place } from './disk.ts';
import type { Finding } from './oracle.ts';
import { cancelled, type RunReport } from './run-real.ts';
import type { Crash, RunScenario } from './scenario.ts';

/** A run with more requests than this counts as endless. */
const requestsMax = 10_000;

class Killed extends Error {}
class Unforeseen extends Error {}

/** The course of one run: its requests so far, and its early end. */
export class Course {
  readonly #crash: Crash | null;
  readonly #place: Place;
  readonly #abort = new AbortController();
  readonly #passed = { request: 0, clock: 0, event: 0 };
  isDead = false;

  constructor({ crash }: RunScenario, place: Place) {
    this.#crash = crash;
    this.#place = place;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get requests(): number {
    return this.#passed.request;
  }

  /** Counts a moment, at which the run can end. A dead process does nothing more. */
  pass(moment: Crash['at']): void {
    if (this.isDead) throw new Killed('the process is dead');
    const nth = ++this.#passed[moment];
    if (this.requests > requestsMax) throw new Unforeseen(`more than ${requestsMax} requests`);
    if (this.#crash === null || this.#crash.at !== moment || this.#crash.nth !== nth) return;
    if (this.#crash.way === 'signal') this.#abort.abort(cancelled());
    if (this.#crash.way === 'throw') throw new Unforeseen('nobody foresaw this');
    if (this.#crash.way === 'kill') {
      this.#place.snapshot();
      this.isDead = true;
      throw new Killed('the process dies here');
    }
  }

  /** The findings of a run that threw; none if it was made to, or if another program altered the mirror during it. */
  complaints({ error }: RunReport, run: number, isMeddledAmid: boolean): Finding[] {
    if (this.requests > requestsMax)
      return [{ kind: 'endless', list: null, run, what: `more than ${requestsMax} requests` }];
    if (error === null || this.isDead || error instanceof Unforeseen) return [];
    if (isMeddledAmid && error instanceof MirrorAlteredError) return [];
    // A run that is stopped while it begins has no lists to report.
    if (this.#abort.signal.aborted && error instanceof CancelledError) return [];
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return [{ kind: 'broke', list: null, run, what }];
  }
}
