import {
  type Answer,
  type Ask,
  addressText,
  type PageAddress,
  type Shown,
} from '../../../src/proof/answers.ts';
import type { Proof } from '../../../src/proof/conclude.ts';
import type { Verdict } from '../../../src/proof/cover.ts';
import type { Finding } from '../../../src/proof/findings.ts';
import type { Identity } from '../../../src/proof/keys.ts';
import type { ListFacts } from '../../../src/proof/log.ts';
import type { Ties } from '../../../src/proof/plan.ts';
import type { Asking, Batch } from '../../../src/proof/questions.ts';
import type { LoggedAnswer, ResumeLog } from '../../../src/store/write/resume-log.ts';
import type * as Core from './core.ts';
import { type Mirror, settleMirror, writeMirror } from './mirror.ts';
import type { Pages, WorldRecord } from './records.ts';

const endedEarly: Finding = {
  code: 'ended_early',
  records: 0,
  total: null,
  isPaused: false,
  goesOn: false,
};

/** An answer of the service: some records, and a total. */
export interface Served {
  readonly records: readonly WorldRecord[];
  readonly total: number;
  readonly pageCount: number;
}

/** The service, as one night's run meets it. */
export interface NightService {
  /** The number of the present moment. */
  readonly moment: number;
  /** The moment at which the last answer began. */
  readonly answerBegan: number;
  /** Called before an answer is made: the list can change. */
  change(): void;
  answer(ask: Ask): Served;
  /** Which of so many requests under way is answered next. */
  pick(underWay: number): number;
}

/** The result of the run of one night. */
export interface Night {
  readonly verdict: Verdict;
  readonly answers: readonly Answer[];
  readonly requests: number;
  readonly secondLookRequests: number;
  readonly removed: readonly WorldRecord[];
  readonly undecided: number;
  readonly isProven: boolean;
  /** The moment of the oldest answer in use. */
  readonly since: number;
  /** What the next run goes on with, if the reading ended early; null if it did not. */
  readonly kept: Kept | null;
  /** Whether it was read afresh, because the answers of an earlier run did not do. */
  readonly isAfresh: boolean;
}

/** What is kept of a reading that ended early: a resume log, and what the pages show that it names. */
export interface Kept {
  readonly resumeLog: ResumeLog;
  readonly records: ReadonlyMap<string, readonly WorldRecord[]>;
}

/** What a service does with page sizes: it serves only one and refuses others, or ignores them, or it serves several. */
export type Plain = 'one size' | 'ignored sizes' | 'two sizes';

/** How a list is synced in a night. */
export interface NightOptions {
  readonly identity: Identity;
  readonly largest: number;
  readonly overlap: number;
  readonly underWayMax: number;
  /** The number of the run. */
  readonly run: number;
  /** In the place of windows: full scans that have to agree, by pages of one size or of two. */
  readonly plain?: Plain;
  /** In the place of a course that asks for what it needs: one that asks for given pages. */
  readonly script?: readonly PageAddress[];
  /** Whether the reading ends early, now. It is asked before each answer but the first. */
  readonly endsNow?: () => boolean;
  /** Whether a run before proved what the mirror has, if it has something. */
  readonly isAfterCleanRun?: boolean;
  /** What an earlier run has read that ended early. */
  readonly kept?: Kept | null;
}

/**
 * Plays a full sync against a mirror, and writes the mirror as docmirror would: by the decisions that `prove` returns. If the answers of an
 * earlier run do not do, the list is read afresh, as in `sync/list.ts`.
 */
export function playNight(
  core: typeof Core,
  mirror: Mirror,
  service: NightService,
  pages: Pages,
  options: NightOptions,
): Night {
  const { identity, largest, kept } = options;
  const older = core.answersIn(kept?.resumeLog, { firstPageNo: 0, pageSize: largest }, service.moment);
  const totalBefore = older.length > 0 && kept ? kept.resumeLog.totalBefore : mirror.totalBefore;
  const known = new Set(mirror.rows.keys());
  const answering = new Answering(service, pages, options, olderAnswers(older, kept, pages), known);
  let merged: readonly Shown[] = [];
  const settled = () => settleMirror(core, mirror, answering.served, merged, identity);
  const planned = older.length > 0 ? (kept?.resumeLog.planned ?? null) : [];
  const facts: ListFacts = {
    ...options,
    learnt: mirror.learnt,
    ties: planned === null || identity === 'id' ? null : tiesOf(core, mirror, options.overlap),
    planned: planned ?? [],
    isAfterCleanRun: options.isAfterCleanRun === true && mirror.rows.size > 0 && older.length === 0,
    totalBefore,
  };
  const asking = courseOf(core, facts, options);
  let step = asking.next();
  while (step.done !== true) {
    if (step.value.kind !== 'pages') {
      if (step.value.kind === 'absent') merged = step.value.merged;
      const { absent, addedCount } = settled();
      step = asking.next(
        step.value.kind === 'added' ? { kind: 'added', count: addedCount } : { kind: 'absent', rows: absent },
      );
      continue;
    }
    const answers = answering.answersTo(step.value);
    step = answering.hasEnded
      ? asking.throw(new core.EndedEarly(endedEarly, answers))
      : asking.next({ kind: 'pages', answers });
  }
  const { verdict: found, answers, rows, findings } = step.value;
  const { hasEnded, served } = answering;
  const hasRecalled = answers.some(({ isRecalled }) => isRecalled);
  const settlement = settled();
  // If too few rows are left, one of those that would go might be a record that no answer has shown at its new place.
  const isCounted = findings.length === 0 && !hasEnded;
  const isShort = isCounted && core.miscount(answers, settlement.rows.length) !== null;
  const isOpen = found.rule === 'key' && !found.isProven;
  if (hasRecalled && !hasEnded && (isOpen || isShort))
    return { ...playNight(core, mirror, service, pages, { ...options, kept: null }), isAfresh: true };
  const verdict = { ...found, isProven: found.isProven && !isShort };
  const removed = writeMirror(mirror, settlement, isShort ? [] : rows);
  if (verdict.isProven) mirror.learnt = core.learntOrder(answers, mirror.learnt);
  mirror.totalBefore = answers.at(-1)?.total ?? null;
  const undecided = rows.length - removed.length;
  const seconds = [...served.keys()].filter(({ isSecondLook }) => isSecondLook).length;
  return {
    verdict,
    answers: [...served.keys()],
    requests: served.size - seconds,
    secondLookRequests: seconds,
    removed,
    undecided,
    isProven: verdict.isProven && undecided === 0,
    since: Math.min(...core.answersInUse(step.value).map(({ at }) => at)),
    kept: hasEnded ? keptNow() : null,
    isAfresh: false,
  };

  function keptNow(): Kept {
    const records = new Map(kept?.records);
    for (const [{ page }, shown] of served) records.set(page.digest, shown);
    const proof = step.value as Proof;
    const planned = proof.planned === null ? {} : { planned: proof.planned };
    const goesOn = core.resumable(proof, older);
    return {
      resumeLog: { firstPageNo: 0, pageSize: largest, totalBefore, ...planned, answers: goesOn },
      records,
    };
  }
}

/** Where rows of a mirror share keys. */
function tiesOf(core: typeof Core, { rows }: Mirror, least: number): Ties {
  const counts = new Map<number, number>();
  for (const { record, count } of rows.values())
    counts.set(record.key, (counts.get(record.key) ?? 0) + count);
  const inOrder = [...counts].filter(([key]) => !Number.isNaN(key)).sort(([a], [b]) => a - b);
  const placed = inOrder.map(([key, count], at) => {
    const before = inOrder.slice(0, at).reduce((sum, [, lower]) => sum + lower, 0);
    return { key, count, before };
  });
  return new core.Ties(placed.filter(({ count }) => count >= least));
}

/** The answers of an earlier run by address, with numbers below those of this run. */
function olderAnswers(
  older: readonly LoggedAnswer[],
  kept: Kept | null | undefined,
  pages: Pages,
): ReadonlyMap<string, OlderAnswer> {
  const found = new Map<string, OlderAnswer>();
  for (const [at, answer] of older.entries()) {
    const records = kept?.records.get(answer.digest);
    const asked = at - older.length;
    if (records !== undefined)
      found.set(addressText(answer), { ...answer, asked, records, page: pages.make(records) });
  }
  return found;
}

interface OlderAnswer extends Pick<Answer, 'at' | 'total' | 'asked' | 'page'> {
  readonly records: readonly WorldRecord[];
}

/** Answers requests, some under way at once, until the reading ends early. */
class Answering {
  /** All answers, with the records that each shows. */
  readonly served = new Map<Answer, readonly WorldRecord[]>();
  hasEnded = false;
  readonly #service: NightService;
  readonly #pages: Pages;
  readonly #options: NightOptions;
  readonly #older: ReadonlyMap<string, OlderAnswer>;
  /** The contents that the mirror has. */
  readonly #known: ReadonlySet<number>;
  #tick = 0;

  constructor(
    service: NightService,
    pages: Pages,
    options: NightOptions,
    older: ReadonlyMap<string, OlderAnswer>,
    known: ReadonlySet<number>,
  ) {
    this.#service = service;
    this.#pages = pages;
    this.#options = options;
    this.#older = older;
    this.#known = known;
  }

  /** The answers to a batch in the order of their arrival; if the reading ends early, those that have come. */
  answersTo({ pages, stop, mayRecall }: Batch): Answer[] {
    const { underWayMax, endsNow = () => false } = this.#options;
    const left = [...pages];
    const underWay: (Ask & { asked: number })[] = [];
    const came: Answer[] = [];
    let isOver = false;
    const take = (answer: Answer, records: readonly WorldRecord[]) => {
      this.served.set(answer, records);
      came.push(answer);
      isOver ||= stop(answer);
    };
    for (;;) {
      while (!isOver && underWay.length < underWayMax && left.length > 0) {
        const ask = left.shift() as Ask;
        const older = mayRecall ? this.#older.get(addressText(ask)) : undefined;
        if (older === undefined) underWay.push({ ...ask, asked: ++this.#tick });
        else {
          const { asked, at, total, page, records } = older;
          const recalled = { asked, arrived: asked, at, isRecalled: true, total, page };
          take({ ...ask, ...recalled, wrong: null, pageCount: null, oldestNewKeys: [] }, records);
        }
      }
      if (underWay.length === 0) return came;
      this.#service.change();
      this.hasEnded = this.served.size > 0 && endsNow();
      if (this.hasEnded) return came;
      const [ask] = underWay.splice(this.#service.pick(underWay.length), 1);
      if (ask === undefined) throw new Error('Nothing is under way.');
      const { records, total, pageCount } = this.#service.answer(ask);
      const moment = { arrived: ++this.#tick, at: this.#service.answerBegan, isRecalled: false };
      const arrived = { ...moment, total, pageCount };
      const isNew = ({ content }: WorldRecord) => !this.#known.has(content);
      const oldestNewKeys = records
        .filter(isNew)
        .map(({ key }) => key)
        .sort((a, b) => a - b);
      take({ ...ask, ...arrived, page: this.#pages.make(records), wrong: null, oldestNewKeys }, records);
    }
  }
}

function* courseOf(core: typeof Core, facts: ListFacts, { plain, script }: NightOptions): Asking<Proof> {
  if (script !== undefined) return yield* scripted(core, facts, script);
  if (plain === undefined) return yield* core.prove(facts);
  const run = new core.AnswerLog(facts);
  [run.hasOneSize, run.ignoresSizes] = [plain !== 'two sizes', plain !== 'one size'];
  return yield* core.confirm(run, yield* core.proveByAgreement(run, []));
}

/** Asks for given pages and for no others. One window is enough here: it must never say that a record is gone that was listed all the time. */
function* scripted(core: typeof Core, facts: ListFacts, script: readonly PageAddress[]): Asking<Proof> {
  const run = new core.AnswerLog(facts);
  yield* run.ask(script, { stop: () => false });
  return yield* core.proofOf(run, core.verdictByKey(run), true);
}
