import type { Course, CourseOptions } from '../../../src/proof/windows/course.ts';
import type { PageAddress, PageAnswer, PageSummary } from '../../../src/proof/windows/page.ts';
import type { Ask } from '../../../src/proof/windows/requests.ts';
import type { Verdict } from '../../../src/proof/windows/verdict.ts';
import type * as Core from './core.ts';

/** Asks for given pages and for no others, and judges what came. A second look counts as one if its page was given twice. */
export class ScriptedCourse
  implements Pick<Course, 'next' | 'answered' | 'lookAgain' | 'answers' | 'verdict'>
{
  readonly #core: typeof Core;
  readonly #options: CourseOptions;
  readonly #left: PageAddress[];
  readonly answers: PageAnswer[] = [];
  #tick = 0;

  constructor(core: typeof Core, options: CourseOptions, script: readonly PageAddress[]) {
    this.#core = core;
    this.#options = options;
    this.#left = [...script];
  }

  get verdict(): Verdict {
    const { windowsByKey, verdictByKey, wholePages } = this.#core;
    if (wholePages(this.answers).isWhole) return { rule: 'page', isProven: true, isConfirmed: true };
    const { learnt, identity, itemsOf } = this.#options;
    const windows = windowsByKey(this.answers, learnt, identity, itemsOf);
    if (windows === null) return { rule: 'agreement', isProven: false, reason: 'out of order' };
    // One window is enough here: it must never say that a record is gone that was listed all the time.
    return { ...verdictByKey(windows), unconfirmed: [] };
  }

  next(): Ask | null {
    const page = this.#left.shift();
    return page === undefined ? null : { ...page, asked: ++this.#tick, isSecondLook: false, reading: 0 };
  }

  answered(ask: Ask, total: number, summary: PageSummary): PageAnswer {
    const answer = { ...ask, arrived: ++this.#tick, total, summary };
    this.answers.push(answer);
    return answer;
  }

  lookAgain(): boolean {
    return false;
  }
}
