import type { CourseOptions } from '../../../src/proof/windows/course.ts';
import type { LearntOrder } from '../../../src/proof/windows/order.ts';
import type { Identity, PageAddress, PageAnswer } from '../../../src/proof/windows/page.ts';
import type { RepeatedRecord } from '../../../src/proof/windows/plain-reading.ts';
import type { Verdict } from '../../../src/proof/windows/verdict.ts';
import type { KeyRange } from '../../../src/proof/windows/window.ts';
import type * as Core from './core.ts';
import { itemsOf, type Pages, type WorldRecord } from './records.ts';
import { ScriptedCourse } from './scripted-course.ts';

/** An answer of the service: some records, and a total. */
export interface Served {
  readonly records: readonly WorldRecord[];
  readonly total: number;
}

/** The service, as one night's run meets it. */
export interface NightService {
  /** Called before an answer is made: the list can change. */
  change(): void;
  answer(address: PageAddress): Served;
  /** Which of so many requests under way is answered next. */
  pick(underWay: number): number;
}

/** A mirror of a list, as docmirror would keep it. */
export interface Mirror {
  /** Rows by content; each with its key, its record's id and how many there are. */
  readonly rows: Map<number, Row>;
  learnt: LearntOrder;
  /** Contents that the last run showed gone by a rule that needs two runs. */
  goneBefore: ReadonlySet<number>;
  total: number;
}

/** A row of the mirror, or some that are the same. */
export interface Row {
  readonly record: WorldRecord;
  count: number;
}

/** The result of the run of one night. */
export interface Night {
  readonly verdict: Verdict;
  readonly answers: readonly PageAnswer[];
  readonly requests: number;
  readonly secondLookRequests: number;
  readonly removed: readonly WorldRecord[];
  readonly undecided: number;
  readonly waiting: number;
  readonly isProven: boolean;
}

/** How a list is synced in a night. */
export interface NightOptions {
  readonly identity: Identity;
  readonly largest: number;
  readonly overlap?: number;
  readonly underWayMax: number;
  readonly isUsed: (address: PageAddress) => boolean;
  /** In the place of windows: plain readings that have to agree, by pages of one size or of two. */
  readonly plain?: 'one size' | 'two sizes';
  /** In the place of a course that asks for what it needs: one that asks for given pages. */
  readonly script?: readonly PageAddress[];
}

/** Plays a full sync against a mirror, and writes the mirror as docmirror would. */
export function playNight(
  core: typeof Core,
  mirror: Mirror,
  service: NightService,
  pages: Pages,
  options: NightOptions,
): Night {
  const { identity, underWayMax } = options;
  const served = new Map<PageAnswer, readonly WorldRecord[]>();
  const hasTwins = [...mirror.rows.values()].some(({ count }) => count > 1);
  const courseOptions = {
    ...options,
    learnt: mirror.learnt,
    expectedTotal: mirror.total,
    hasTwins,
    itemsOf: (answer: PageAnswer) => pages.make(served.get(answer) ?? []).items,
  };
  const course = courseOf(core, courseOptions);
  const read = () => {
    const underWay: ReturnType<typeof course.next>[] = [];
    for (;;) {
      for (let ask = underWay.length < underWayMax ? course.next() : null; ask !== null; ) {
        underWay.push(ask);
        ask = underWay.length < underWayMax ? course.next() : null;
      }
      if (underWay.length === 0) return;
      service.change();
      const [ask] = underWay.splice(service.pick(underWay.length), 1);
      if (ask === undefined || ask === null) throw new Error('Nothing is under way.');
      const { records, total } = service.answer(ask);
      const answer = course.answered(ask, total, pages.make(records).summary);
      served.set(answer, records);
    }
  };
  read();
  const requestsBefore = course.answers.length;
  let facts = factsOf(course.answers, served, identity);
  for (;;) {
    const gone = rowsGone(core, mirror, facts, course.verdict as Verdict, identity).filter(
      ({ fate }) => fate.undecided > 0,
    );
    const keys = gone.filter(({ isSpokenOf }) => isSpokenOf).map(({ row }) => row.record.key);
    if (course.verdict?.rule === 'agreement' || !course.lookAgain(Float64Array.from(keys))) break;
    read();
    facts = factsOf(course.answers, served, identity);
  }
  const verdict = course.verdict as Verdict;
  if (verdict.rule === 'agreement' && verdict.isProven) countRepeated(facts, verdict.repeated);
  const { removed, undecided, waiting } = write(core, mirror, facts, verdict, identity);
  if (verdict.isProven) mirror.learnt = core.learntOrder(course.answers);
  mirror.total = course.answers.at(-1)?.total ?? 0;
  return {
    verdict,
    answers: course.answers,
    requests: requestsBefore,
    secondLookRequests: course.answers.length - requestsBefore,
    removed,
    undecided,
    waiting,
    isProven: verdict.isProven && undecided === 0,
  };
}

function courseOf(core: typeof Core, options: NightOptions & CourseOptions) {
  const { plain, script } = options;
  if (script !== undefined) return new ScriptedCourse(core, options, script);
  if (plain === undefined) return new core.Course(options);
  return new core.PlainCourse({ ...options, hasOneSize: plain === 'one size', reason: 'it is to be plain' });
}

/** The records that the answers show: the most copies of each content, or the newest content of each id. */
interface Shown {
  readonly counts: Map<number, { record: WorldRecord; count: number }>;
  readonly ids: Set<number>;
}

function factsOf(
  answers: readonly PageAnswer[],
  served: ReadonlyMap<PageAnswer, readonly WorldRecord[]>,
  identity: Identity,
): Shown {
  const newest = new Map<number, WorldRecord>();
  const counts: Shown['counts'] = new Map();
  for (const answer of answers.toSorted((a, b) => a.asked - b.asked)) {
    const here = new Map<number, number>();
    for (const record of served.get(answer) ?? []) {
      if (identity === 'id') newest.set(record.id, record);
      else {
        const count = (here.get(record.content) ?? 0) + 1;
        here.set(record.content, count);
        const known = counts.get(record.content);
        if (known === undefined || known.count < count) counts.set(record.content, { record, count });
      }
    }
  }
  for (const record of newest.values()) counts.set(record.content, { record, count: 1 });
  return { counts, ids: new Set(newest.keys()) };
}

/** Records that are the same and on several pages: no page shows all of them. */
function countRepeated({ counts }: Shown, repeated: readonly RepeatedRecord[]): void {
  for (const shown of counts.values()) {
    const content = Buffer.from(itemsOf([shown.record]).contents);
    const here = repeated.find(other => content.equals(other.content));
    if (here !== undefined) shown.count = here.count;
  }
}

interface RowFate {
  readonly row: Row;
  readonly isSpokenOf: boolean;
  readonly fate: ReturnType<typeof Core.fateOf>;
}

/** The fate of each row of the mirror. */
function rowsGone(
  core: typeof Core,
  mirror: Mirror,
  { counts, ids }: Shown,
  verdict: Verdict,
  identity: Identity,
): RowFate[] {
  return [...mirror.rows.values()].map(row => {
    const { key, id, content } = row.record;
    const isEdited = identity === 'id' && ids.has(id);
    const shown = isEdited ? row.count : (counts.get(content)?.count ?? 0);
    const isOutside = (ranges: readonly KeyRange[]) => !ranges.some(range => core.isIn(key, range));
    const isSpokenOf = verdict.rule === 'key' ? isOutside(verdict.open) : verdict.isProven;
    const isConfirmed =
      verdict.rule === 'key' ? isOutside(verdict.unconfirmed) : verdict.isProven && verdict.isConfirmed;
    const twoRuns = core.needsTwoRuns(verdict.rule, counts.size);
    const wasGone = mirror.goneBefore.has(content);
    const facts = { known: row.count, shown, isSpokenOf, isConfirmed, needsTwoRuns: twoRuns, wasGone };
    return { row, isSpokenOf, fate: core.fateOf(facts) };
  });
}

function write(
  core: typeof Core,
  mirror: Mirror,
  shown: Shown,
  verdict: Verdict,
  identity: Identity,
): Pick<Night, 'removed' | 'undecided' | 'waiting'> {
  const fates = rowsGone(core, mirror, shown, verdict, identity);
  const isGone = ({ fate }: RowFate) => fate.gone + fate.waiting > 0;
  const gone = new Set(fates.filter(isGone).map(({ row }) => row.record.content));
  const removed: WorldRecord[] = [];
  let undecided = 0;
  let waiting = 0;
  for (const { row, fate } of fates) {
    undecided += fate.undecided;
    waiting += fate.waiting;
    for (let count = 0; count < fate.gone; count++) removed.push(row.record);
    row.count -= fate.gone;
    if (fate.gone > 0 && row.count === 0) mirror.rows.delete(row.record.content);
  }
  mirror.goneBefore = gone;
  if (identity === 'id') {
    for (const [content, { record }] of mirror.rows)
      if (shown.ids.has(record.id)) mirror.rows.delete(content);
  }
  for (const { record, count } of shown.counts.values()) {
    const row = mirror.rows.get(record.content);
    if (row === undefined) mirror.rows.set(record.content, { record, count });
    else row.count = Math.max(row.count, count);
  }
  return { removed, undecided, waiting };
}
