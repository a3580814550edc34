import type { LearntOrder } from '../../../src/proof/order.ts';
import type { Proof } from '../../../src/proof/prove.ts';
import type { Asking, ListFacts, RepeatedRecord, Verdict } from '../../../src/proof/reading.ts';
import type { Answer, Ask, Identity, PageAddress } from '../../../src/proof/window.ts';
import type * as Core from './core.ts';
import { itemsOf, type Pages, type WorldRecord } from './records.ts';

/** An answer of the service: some records, and a total. */
export interface Served {
  readonly records: readonly WorldRecord[];
  readonly total: number;
}

/** The service, as one night's run meets it. */
export interface NightService {
  /** Called before an answer is made: the list can change. */
  change(): void;
  answer(ask: Ask): Served;
  /** Which of so many requests under way is answered next. */
  pick(underWay: number): number;
}

/** A mirror of a list, as docmirror would keep it. */
export interface Mirror {
  /** Rows by content; each with its key, its record's id and how many there are. */
  readonly rows: Map<number, Row>;
  learnt: LearntOrder;
  /** The total of the last run; null if there was none. */
  totalBefore: number | null;
}

/** A row of the mirror, or some that are the same. */
export interface Row {
  readonly record: WorldRecord;
  count: number;
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
  /** In the place of windows: plain readings that have to agree, by pages of one size or of two. */
  readonly plain?: Plain;
  /** In the place of a course that asks for what it needs: one that asks for given pages. */
  readonly script?: readonly PageAddress[];
}

/** Plays a full sync against a mirror, and writes the mirror as docmirror would: by the fates that `prove` returns. */
export function playNight(
  core: typeof Core,
  mirror: Mirror,
  service: NightService,
  pages: Pages,
  options: NightOptions,
): Night {
  const { identity, underWayMax } = options;
  const served = new Map<Answer, readonly WorldRecord[]>();
  let tick = 0;
  const play = (asks: readonly Ask[], stop: (answer: Answer) => boolean): Answer[] => {
    const left = [...asks];
    const underWay: (Ask & { asked: number })[] = [];
    const came: Answer[] = [];
    let isOver = false;
    for (;;) {
      while (!isOver && underWay.length < underWayMax && left.length > 0)
        underWay.push({ ...(left.shift() as Ask), asked: ++tick });
      if (underWay.length === 0) return came;
      service.change();
      const [ask] = underWay.splice(service.pick(underWay.length), 1);
      if (ask === undefined) throw new Error('Nothing is under way.');
      const { records, total } = service.answer(ask);
      const page = pages.make(records);
      const answer: Answer = {
        ...ask,
        arrived: ++tick,
        total,
        page,
        wrong: null,
        oldestNewKeys: [],
      };
      served.set(answer, records);
      came.push(answer);
      isOver ||= stop(answer);
    }
  };
  const shownSoFar = (repeated: readonly RepeatedRecord[]) => {
    const shown = factsOf([...served.keys()], served, identity);
    countRepeated(shown, repeated);
    return shown;
  };
  const facts: ListFacts = {
    ...options,
    learnt: mirror.learnt,
    totalBefore: mirror.totalBefore,
    unshown: repeated => unshownRows(mirror, shownSoFar(repeated), identity),
  };
  const asking = courseOf(core, facts, options);
  let step = asking.next();
  while (step.done !== true) step = asking.next(play(step.value.pages, step.value.stop));
  const { verdict, answers, rows } = step.value;
  const removed = write(mirror, shownSoFar(verdict.repeated ?? []), rows, identity);
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
  };
}

function* courseOf(core: typeof Core, facts: ListFacts, { plain, script }: NightOptions): Asking<Proof> {
  if (script !== undefined) return yield* scripted(core, facts, script);
  if (plain === undefined) return yield* core.prove(facts);
  const run = new core.Reading(facts);
  run.hasOneSize = plain !== 'two sizes';
  run.ignoresSizes = plain !== 'one size';
  return yield* core.confirm(run, yield* core.proveByAgreement(run, 'it is to be plain'));
}

/** Asks for given pages and for no others. One window is enough here: it must never say that a record is gone that was listed all the time. */
function* scripted(core: typeof Core, facts: ListFacts, script: readonly PageAddress[]): Asking<Proof> {
  const run = new core.Reading(facts);
  yield* run.ask(script, { stop: () => false });
  return core.proofOf(run, core.verdictByKey(run), true);
}

/** The records that the answers show: the most copies of each content, or the newest content of each id. */
interface Shown {
  readonly counts: Map<number, { record: WorldRecord; count: number }>;
  readonly ids: Set<number>;
}

function factsOf(
  answers: readonly Answer[],
  served: ReadonlyMap<Answer, readonly WorldRecord[]>,
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
  if (repeated.length === 0) return;
  for (const shown of counts.values()) {
    const content = Buffer.from(itemsOf([shown.record]).contents);
    const here = repeated.find(other => content.equals(other.content));
    if (here !== undefined) shown.count = here.count;
  }
}

/** The rows that no answer has shown; their id is the content. Of identical rows, those that no page has. */
function unshownRows(
  mirror: Mirror,
  { counts, ids }: Shown,
  identity: Identity,
): { id: number; key: number }[] {
  return [...mirror.rows.values()].flatMap(({ record, count }) => {
    const shown = identity === 'id' && ids.has(record.id) ? count : (counts.get(record.content)?.count ?? 0);
    return Array.from({ length: Math.max(0, count - shown) }, () => ({
      id: record.content,
      key: record.key,
    }));
  });
}

function write(mirror: Mirror, shown: Shown, rows: Proof['rows'], identity: Identity): WorldRecord[] {
  const removed: WorldRecord[] = [];
  for (const { id, fate } of rows) {
    const row = mirror.rows.get(id);
    if (fate !== 'gone' || row === undefined) continue;
    removed.push(row.record);
    if (--row.count === 0) mirror.rows.delete(id);
  }
  if (identity === 'id') {
    for (const [content, { record }] of mirror.rows)
      if (shown.ids.has(record.id)) mirror.rows.delete(content);
  }
  for (const { record, count } of shown.counts.values()) {
    const row = mirror.rows.get(record.content);
    if (row === undefined) mirror.rows.set(record.content, { record, count });
    else row.count = Math.max(row.count, count);
  }
  return removed;
}
