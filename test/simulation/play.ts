import type { Answer, Ask } from './answers.ts';
import { Course } from './course.ts';
import type { Disk, Place } from './disk.ts';
import { Front } from './front.ts';
import { Gate } from './gate.ts';
import { meddleWith } from './meddle.ts';
import { eachList, type MirrorState, readAsOf, readKeptFrom, readMirror } from './mirror-rows.ts';
import { type Finding, hasEndedEarly, judgeHealed, judgeHistory, judgeRun, type RunFacts } from './oracle.ts';
import type { HabitKind } from './paginator.ts';
import { contentOf, type Entry } from './records.ts';
import { differencesIn, type RunReport, runOnce } from './run-real.ts';
import {
  type ListName,
  listNames,
  type Meddle,
  plainRun,
  type RunScenario,
  type Scenario,
  type ServiceScenario,
} from './scenario.ts';
import { tamperWith } from './tamper.ts';
import { Totals } from './totals.ts';
import { sizeForOverlap, truthful, withOverlap } from './truth.ts';
import { World } from './world.ts';

/** The result of one run, for the count of events. */
export interface PlayedRun {
  readonly report: RunReport | null;
  readonly requests: number;
}

/** The result of a scenario. */
export interface Played {
  readonly findings: readonly Finding[];
  /** Broken promises that no reader could have kept. */
  readonly excused: readonly Finding[];
  readonly runs: readonly PlayedRun[];
  /** The habits of paginators that answers showed. */
  readonly habits: ReadonlySet<HabitKind>;
}

/** Receives each answer and each run, for a search for a cause. */
export interface Listener {
  answered(ask: Ask, answer: Answer): void;
  ended(run: PlayedRun): void;
}

const silent: Listener = { answered() {}, ended() {} };

const hourMs = 60 * 60 * 1000;
/** Runs within which all wounds must have healed. */
const weekHours = 7 * 24;
const healingRuns = 2;
/** The audit is asked after each second run, and at the end. */
const runsPerAudit = 2;

/**
 * Plays a scenario to its end: its runs, and then, unless it `mayStopSick`, two over the same service, still and truthful.
 * It stops at the first run that broke a promise.
 */
export async function play(
  scenario: Scenario,
  disk: Disk,
  mayStopSick = false,
  listener: Listener = silent,
): Promise<Played> {
  using place = disk.place();
  const simulation = new Simulation(scenario, place, listener);
  for (const run of scenario.runs) if (simulation.isSound) await simulation.play(run);
  if (simulation.isSound && !mayStopSick) await simulation.heal();
  return simulation;
}

class Simulation implements Played {
  readonly findings: Finding[] = [];
  readonly excused: Finding[] = [];
  readonly runs: PlayedRun[] = [];
  readonly #scenario: Scenario;
  readonly #place: Place;
  readonly #listener: Listener;
  readonly #world: World;
  readonly #front: Front;
  readonly #totals = new Totals();
  /** The mirror after each run. */
  readonly #stood = new Map<number, MirrorState['lists']>();
  /** The runs after which the mirror was backed up, counted from 1. */
  readonly #backedUp = new Set<number>();
  /** True once another program has written to the records. Its changes can remain a difference for good. */
  #isMeddled = false;
  /** True from that write until a run has rebuilt the mirror: an audit would find it. */
  #isAltered = false;
  /** True if the next run has to refuse the mirror. */
  #mustRefuse = false;
  /** True if another program has written to them during this run. Then rows might be neither the run's nor the service's. */
  #isMeddledAmid = false;
  #now = Date.UTC(2030, 0, 1);
  /** Lists whose reading ended early and has not come to its end since. */
  readonly #goOn = new Set<ListName>();
  #mirror: MirrorState;

  constructor(scenario: Scenario, place: Place, listener: Listener) {
    this.#listener = listener;
    this.#scenario = scenario;
    this.#place = place;
    this.#world = new World(scenario);
    this.#front = new Front(this.#world, scenario.lists);
    this.#mirror = readMirror(place.path);
  }

  get habits(): ReadonlySet<HabitKind> {
    return this.#front.habits;
  }

  get isSound(): boolean {
    return this.findings.length === 0;
  }

  /** One run, with all that happens before it and during it. */
  async play(run: RunScenario): Promise<void> {
    for (const change of run.before) this.#world.change(change);
    const { refill } = run;
    const isSynced = refill !== null && this.#scenario.synced.includes(refill.list);
    const emptied = isSynced ? this.#world.empty(refill.list, refill.tenths) : [];
    this.#restore(run.rollback);
    await this.#meddle(run.meddles.filter(({ request }) => request === 0));
    for (const tamper of run.tampers) tamperWith(this.#place.path, tamper);
    const facts = await this.#run(run, this.#scenario.service);
    this.#add(judgeRun(facts));
    if (isSynced) this.#judgeFilled(refill.list, emptied, facts);
    this.#endReadings();
    // An audit can report altered shortcuts until they are needed. The next run recovers from a crash.
    const isPlain = this.#scenario.runs.slice(0, this.runs.length).every(each => each.tampers.length === 0);
    if (this.runs.length % runsPerAudit === 0 && isPlain && this.runs.at(-1)?.report !== null)
      await this.#audit();
    this.#backUp();
    this.#now += hourMs;
  }

  /** The next run that finds the same can remove what a run has let stay, so only the first of them is judged. */
  #judgeFilled(name: ListName, emptied: readonly Entry[], { before, after, run, isMeddled }: RunFacts): void {
    const isFirst = this.#scenario.runs[run - 2]?.refill?.list !== name;
    const isTouched = isMeddled || this.#goOn.has(name);
    const newest = Math.max(...this.#world.lists[name].entries.map(({ key }) => key));
    const isGone = (entry: Entry) => {
      const content = contentOf(name, entry) ?? '';
      return entry.key > newest && before.lists[name].has(content) && !after.lists[name].has(content);
    };
    const isJudged = isFirst && !isTouched;
    const complaints = isJudged ? this.#totals.judgeFilled(name, emptied.filter(isGone).length) : [];
    this.#add(complaints.map(complaint => ({ ...complaint, list: name, run })));
  }

  /** A list is judged by what was listed since its reading began, and a reading that ended early goes on in the next run. */
  #endReadings(): void {
    for (const name of listNames) {
      const words = this.runs.at(-1)?.report?.lists.find(({ resource }) => resource === name);
      const isWritten = words !== undefined && words.completeness !== null;
      if (isWritten && hasEndedEarly(words)) this.#goOn.add(name);
      else if (isWritten) this.#goOn.delete(name);
      if (!this.#goOn.has(name)) this.#world.lists[name].endRun();
    }
  }

  /** Keeps a copy of the mirror for a later restore. A killed run leaves no backup. */
  #backUp(): void {
    const isWhole = this.runs.at(-1)?.report !== null;
    if (isWhole && this.#scenario.runs.some(({ rollback }) => rollback > 0)) {
      this.#place.backUp(this.runs.length);
      this.#backedUp.add(this.runs.length);
    }
  }

  #restore(rollback: number): void {
    const run = this.runs.length - rollback;
    if (rollback === 0 || !this.#backedUp.has(run)) return;
    this.#place.putBack(run);
    this.#mustRefuse = false;
    this.#mirror = readMirror(this.#place.path);
    for (const runId of this.#stood.keys()) if (runId > this.#mirror.runId) this.#stood.delete(runId);
  }

  /** Lets another program write to the mirror. The audit must find it, unless its copy was removed again, or a run was killed before. */
  async #meddle(meddles: readonly Meddle[]): Promise<void> {
    const kinds = new Set(meddles.map(({ kind }) => kind));
    const mayUndo = kinds.has('copy') && kinds.has('delete');
    const isAudited = this.runs.at(-1)?.report !== null && !mayUndo;
    const isFound = meddles.map(meddle => meddleWith(this.#place.path, meddle)).some(Boolean);
    if (!isFound) return;
    this.#isMeddled = true;
    this.#isAltered = true;
    // No receipt has the sum of the connections if the first run was killed.
    const isFirstKilled = this.runs.every(({ report }) => report === null);
    this.#mustRefuse = !mayUndo && !(isFirstKilled && (kinds.has('orphan') || kinds.has('rename')));
    this.#mirror = readMirror(this.#place.path);
    const differences = isAudited ? await differencesIn(this.#place.path) : null;
    const what = 'another program wrote to the mirror, and the audit found nothing';
    if (differences?.length === 0) this.#add([{ kind: 'verify', list: null, run: this.runs.length, what }]);
  }

  /** The same during a run, before or after it writes the altered rows. The next run refuses the mirror at the latest. */
  #meddleAmid(meddle: Meddle): void {
    if (!meddleWith(this.#place.path, meddle)) return;
    this.#isMeddled = true;
    this.#isAltered = true;
    this.#isMeddledAmid = true;
  }

  /** Lets the service stand still and answer truthfully: then all that is wrong must heal. */
  async heal(): Promise<void> {
    this.#world.mend();
    const { service, runs } = this.#scenario;
    const { pageSize, incremental, concurrency, schedule } = runs.at(-1) ?? plainRun;
    const still = { ...plainRun, lies: false, incremental, concurrency, schedule };
    const hasTwins = this.#hasTwins();
    const honest = hasTwins ? withOverlap(truthful(service)) : truthful(service);
    const size = hasTwins && pageSize !== null ? Math.max(pageSize, sizeForOverlap) : pageSize;
    // If the order is not seen, identical records on two pages prove nothing.
    const isProvable = (name: ListName) =>
      !hasTwins || name !== 'document-exports' || this.#scenario.lists[name].order !== 'free';
    const provable = this.#scenario.synced.filter(isProvable);
    // An altered shortcut of a list that no run syncs would stay.
    const all = { ...this.#scenario, synced: listNames };
    for (let healed = 1; healed <= healingRuns && this.isSound; healed++) {
      // Later than any full sync is due; and than a week, after which larger pages that were refused are tried again.
      this.#now += (hasTwins ? weekHours + 1 : 25) * hourMs;
      const facts = await this.#run({ ...still, pageSize: size }, honest, all);
      this.#add([...judgeRun(facts), ...(healed === healingRuns ? judgeHealed(facts, provable) : [])]);
    }
    if (!this.isSound) return;
    await this.#audit();
    if (!this.isSound || this.#isMeddled) return;
    const keptFrom = readKeptFrom(this.#place.path);
    const kept = new Map([...this.#stood].filter(([runId]) => runId >= keptFrom));
    this.#add(judgeHistory(kept, readAsOf(this.#place.path), this.runs.length));
  }

  /** Whether two exports are the same in all that they say but their titles. */
  #hasTwins(): boolean {
    return this.#world.lists['document-exports'].hasTwins;
  }

  /** Asks the program's own audit, which costs as much as half a run. */
  async #audit(): Promise<void> {
    if (this.#isAltered) return;
    // A run that ends a row can put into the history what another program wrote during that run.
    const isAmid = this.#scenario.runs.some(each => each.meddles.some(({ request }) => request > 0));
    const isOld = (what: string) => isAmid && what.startsWith('record_history');
    const found = await differencesIn(this.#place.path);
    const differences = found.filter(what => !isOld(what));
    const run = this.runs.length;
    this.#add(differences.map(what => ({ kind: 'verify', list: null, run, what })));
  }

  async #run(run: RunScenario, service: ServiceScenario, scenario = this.#scenario): Promise<RunFacts> {
    const world = this.#world;
    world.beginRun(this.#goOn);
    this.#front.beginRun(run, service);
    this.#totals.beginRun();
    this.#isMeddledAmid = false;
    let before = this.#mirror;
    const shown = eachList(() => new Set<Entry>());
    const course = new Course(run, this.#place);
    const serve = (ask: Ask) => {
      course.pass('request');
      for (const meddle of run.meddles) if (meddle.request === course.requests) this.#meddleAmid(meddle);
      return this.#front.serve(ask, course.requests, this.#now);
    };
    const gate = new Gate(serve, run.schedule);
    const report = await runOnce({
      path: this.#place.path,
      lists: listsOf(scenario, run),
      pageSize: run.pageSize,
      concurrency: run.concurrency,
      isIncremental: run.incremental,
      isGuarded: run.guarded,
      keepHours: run.keepHours,
      ask: async (ask, signal) => {
        const noteTotal = this.#totals.note(ask);
        const answer = await gate.ask(ask, signal);
        this.#listener.answered(ask, answer);
        if (answer.kind === 'page') noteTotal(answer.shown.total);
        if (answer.kind === 'page' && answer.shown.isAsked)
          for (const entry of answer.shown.entries) shown[ask.list].add(entry);
        return answer;
      },
      clock: () => {
        course.pass('clock');
        return new Date(this.#now++);
      },
      rebuilt: () => {
        before = readMirror(this.#place.path);
        this.#isAltered = this.#isMeddledAmid;
        this.#mustRefuse = false;
      },
      event: () => course.pass('event'),
      signal: course.signal,
    });
    if (course.isDead) this.#place.restore();
    const after = course.isDead ? this.#place.peek(readMirror) : readMirror(this.#place.path);
    this.#mirror = after;
    this.#stood.set(after.runId, after.lists);
    const heard = course.isDead ? null : report;
    const [isMeddled, isMeddledAmid] = [this.#isMeddled, this.#isMeddledAmid];
    const number = this.runs.length + 1;
    const { isDirect } = this.#front;
    const { service: usual, runs } = this.#scenario;
    const isPure =
      !isMeddled &&
      usual.restless === 'none' &&
      runs.every(
        ({ tampers, shift }) => tampers.length === 0 && (shift?.service.restless ?? 'none') === 'none',
      );
    const facts = {
      run: number,
      world,
      before,
      after,
      report: heard,
      isDirect,
      isGuarded: run.guarded,
      shown,
      isMeddled,
      isMeddledAmid,
      isPure,
    };
    const played = { report: heard, requests: course.requests };
    this.runs.push(played);
    this.#listener.ended(played);
    this.#add(course.complaints(report, facts.run, isMeddledAmid));
    this.#add(this.#complaintsOfRefusal(heard, facts.run));
    return facts;
  }

  /** A mirror is refused if another program altered it, and only then. */
  #complaintsOfRefusal(report: RunReport | null, run: number): Finding[] {
    const mustRefuse = this.#mustRefuse;
    if (report === null || report.status === null) return [];
    this.#mustRefuse = false;
    const what = report.wasRefused
      ? 'the mirror was refused, and nobody had altered it'
      : 'the mirror was altered, and a run went on with it';
    const isRight = report.wasRefused ? this.#isMeddled : !mustRefuse;
    return isRight ? [] : [{ kind: 'verify', list: null, run, what }];
  }

  #add(findings: readonly Finding[]): void {
    for (const finding of findings) (this.#isExcused(finding) ? this.excused : this.findings).push(finding);
  }

  /** True if the service gives no sign of more records than it showed: no reader could do better. */
  #isExcused({ kind, list, run }: Finding): boolean {
    // If no total falls, a copy that lags looks like a list from which records were removed.
    const lacks = Math.max(
      this.#scenario.service.lacks,
      this.#scenario.runs[run - 1]?.shift?.service.lacks ?? 0,
    );
    const isOfCopy = kind === 'removed-wrongly' || kind === 'unstored';
    if (list !== null && isOfCopy && lacks > 0 && !this.#totals.haveFallen(list)) return true;
    // Assumption 6 of docs/proof.md: at the growing end, newer records have newer keys. The next run shows what an older one pushed out.
    if (list !== null && kind === 'lost' && this.#front.pushedOut.has(list)) return true;
    // Records that no page shows give connections no name.
    if (kind === 'misnamed') return listNames.some(name => this.#front.lastPages.seemToEnd(name));
    return list !== null && excusable.has(kind) && this.#front.lastPages.seemToEnd(list);
  }
}

function listsOf({ synced }: Scenario, { skips }: RunScenario): readonly ListName[] {
  const left = synced.filter(name => !skips.includes(name));
  return left.length === 0 ? synced : left;
}

const excusable: ReadonlySet<string> = new Set(['lost', 'kept', 'removed-wrongly']);
