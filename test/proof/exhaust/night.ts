import type { LearntOrder } from '../../../src/proof/order.ts';
import type { Proof } from '../../../src/proof/prove.ts';
import type { Asking, ListFacts, Verdict } from '../../../src/proof/reading.ts';
import type { KnownRow } from '../../../src/proof/settle.ts';
import type { Answer, Ask, Identity, PageAddress, Shown } from '../../../src/proof/window.ts';
import type * as Core from './core.ts';
import { type Pages, recordNumber, type WorldRecord } from './records.ts';

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
  let joined: readonly Shown[] = [];
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
        at: 0,
        isRecalled: false,
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
  const settled = () => settleMirror(core, mirror, served, joined, identity);
  const facts: ListFacts = {
    ...options,
    learnt: mirror.learnt,
    totalBefore: mirror.totalBefore,
    unshown(pages) {
      joined = pages;
      return settled().unshown;
    },
  };
  const asking = courseOf(core, facts, options);
  let step = asking.next();
  while (step.done !== true) step = asking.next(play(step.value.pages, step.value.stop));
  const { answers, rows, unproven } = step.value;
  const found = settled();
  // If too few rows are left, one of those that would go might be a record that no answer has shown at its new place.
  const isShort = unproven === null && core.miscount(answers, found.rows.length) !== null;
  const verdict = { ...step.value.verdict, isProven: step.value.verdict.isProven && !isShort };
  const removed = write(mirror, found, isShort ? [] : rows);
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

/** Settles all records that answers have shown, and finds the rows that none leaves room for. Identical rows are told apart by their place. */
export function settleMirror(
  core: typeof Core,
  mirror: Pick<Mirror, 'rows'>,
  served: ReadonlyMap<Answer, readonly WorldRecord[]>,
  joined: readonly Shown[],
  identity: Identity,
) {
  const recordOf = new Map<number, WorldRecord>();
  const rowsOf = new Map<number, KnownRow[]>();
  for (const [content, { record, count }] of mirror.rows) {
    recordOf.set(content, record);
    const number = recordNumber(record, identity);
    const rows = rowsOf.get(number) ?? [];
    for (let copy = 0; copy < count; copy++) rows.push({ row: content * 100 + copy, version: content });
    rowsOf.set(number, rows);
  }
  for (const records of served.values()) for (const record of records) recordOf.set(record.content, record);
  const byMoment = [...served.keys(), ...joined].sort((a, b) => a.asked - b.asked);
  const pages = byMoment.map(({ page }) => page);
  const numbers = new Set(pages.flatMap(({ records }) => [...records]));
  const settled = core.settle(pages, numbers, number => rowsOf.get(number) ?? [], identity === 'id');
  const rows: WorldRecord[] = [];
  const unshown: { id: number; key: number }[] = [];
  for (const [number, known] of rowsOf)
    for (const { version } of settled.get(number)?.left ?? known)
      unshown.push({ id: version, key: (recordOf.get(version) as WorldRecord).key });
  let addedCount = 0;
  for (const { added } of settled.values()) addedCount += added.length;
  for (const { kept, edited, added } of settled.values())
    for (const version of [...[...kept, ...edited].map(each => each.version), ...added])
      rows.push(recordOf.get(version) as WorldRecord);
  return { rows, unshown, addedCount };
}

function write(
  mirror: Mirror,
  { rows, unshown }: ReturnType<typeof settleMirror>,
  fates: Proof['rows'],
): WorldRecord[] {
  const removed: WorldRecord[] = [];
  const before = new Map([...mirror.rows].map(([content, { record }]) => [content, record]));
  mirror.rows.clear();
  const add = (record: WorldRecord) => {
    const row = mirror.rows.get(record.content);
    if (row === undefined) mirror.rows.set(record.content, { record, count: 1 });
    else row.count++;
  };
  const gone = fates.filter(({ fate }) => fate === 'gone').map(({ id }) => id);
  for (const { id } of unshown) {
    const record = before.get(id) as WorldRecord;
    const at = gone.indexOf(id);
    if (at < 0) add(record);
    else {
      gone.splice(at, 1);
      removed.push(record);
    }
  }
  for (const record of rows) add(record);
  return removed;
}
