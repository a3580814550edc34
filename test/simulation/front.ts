import { type Answer, type Ask, answerTo, hollow, type Manner } from './answers.ts';
import { LastPages } from './last-pages.ts';
import type { HabitKind } from './paginator.ts';
import { type Entry, hashOf } from './records.ts';
import {
  type ListName,
  listNames,
  plainRun,
  plainService,
  type RunScenario,
  type Scenario,
  type ServiceScenario,
} from './scenario.ts';
import { truthful } from './truth.ts';
import type { World } from './world.ts';

const hourMs = 60 * 60 * 1000;

/** All that stands between docmirror and the lists: what changes meanwhile, faults, caches, replicas and copies that lag. */
export class Front {
  /** The habits of paginators that answers showed. */
  readonly habits = new Set<HabitKind>();
  readonly lastPages = new LastPages();
  /** Lists from whose growing end a record was pushed out, by an older one that came between the count and the rows of a page. */
  readonly pushedOut = new Set<ListName>();
  /** False once a cache, a replica or a copy that lags gave an answer of this run. */
  isDirect = true;
  readonly #world: World;
  readonly #lists: Scenario['lists'];
  /** The answers that a cache has kept, by address, and when each was made. */
  readonly #kept = new Map<string, { readonly answer: Answer; readonly at: number }>();
  #answerNo = 0;
  #run: RunScenario = plainRun;
  #usual: ServiceScenario = plainService;

  constructor(world: World, lists: Scenario['lists']) {
    this.#world = world;
    this.#lists = lists;
  }

  /** @param usual the service, unless it is set up in another way during the run. */
  beginRun(run: RunScenario, usual: ServiceScenario): void {
    this.isDirect = true;
    this.pushedOut.clear();
    this.lastPages.beginRun();
    this.#run = run;
    this.#usual = usual;
  }

  /**
   * The answer to a request, after what happens just before it, or between its two statements.
   *
   * @param number which request of the run it is, counted from 1.
   * @param now the time in ms.
   */
  serve(ask: Ask, number: number, now: number): Answer {
    const run = this.#run;
    const isShifted = run.shift !== null && number >= run.shift.request;
    const manner = isShifted ? run.shift.service : this.#usual;
    const service = run.lies ? manner : truthful(manner);
    const list = this.#world.lists[ask.list];
    const versionBefore = list.version;
    this.#pass(ask, number);
    const isSplit = service.first !== 'rows' && number % service.splits === 0;
    const between = isSplit ? list.version - versionBefore : 0;
    const isOfCopy = service.lacks > 0 && hashOf(number, service.lacks) % 2 === 0;
    if (isOfCopy) this.isDirect = false;
    const ties = run.lies ? this.#lists[ask.list].ties : 1;
    const answer = this.#answer(ask, service, { ties, between, isOfCopy }, now);
    const fault = run.faults.find(({ request }) => request === number);
    if (fault?.kind === 'hollow') {
      if (answer.kind === 'page') this.lastPages.noteHollow(ask.list, answer);
      return hollow(answer);
    }
    if (fault !== undefined) return { kind: fault.kind === 'gone' ? 'missing' : fault.kind };
    if (answer.kind !== 'page') return answer;
    for (const habit of answer.shown.habits) this.habits.add(habit);
    const isUp = this.#lists[ask.list].order === 'up' || isRising(list.entries);
    if (answer.shown.hasPushedOut && isUp) this.pushedOut.add(ask.list);
    list.noteAnswer(answer.shown.version);
    this.lastPages.note(list, answer, service);
    return answer;
  }

  /** What happens to the lists at a request. */
  #pass({ list }: Ask, number: number): void {
    const { during, lies, refill } = this.#run;
    for (const { request, change } of during) if (request === number) this.#world.change(change);
    const { traffic } = this.#lists[list];
    if (lies && traffic !== null && number % traffic.every === 0)
      this.#world.pass(list, traffic.kind, this.#answerNo);
    if (refill?.list === list && this.#world.fill(list)) this.habits.add('a list being filled');
  }

  /** Answers by a cache or a replica if the service has one for the address. */
  #answer(
    ask: Ask,
    service: ServiceScenario,
    cut: Pick<Manner, 'ties' | 'between' | 'isOfCopy'>,
    now: number,
  ): Answer {
    const { list, pageNo, pageSize } = ask;
    const address = hashOf(listNames.indexOf(list), pageNo ?? -1, pageSize ?? -1);
    const { cache, replicaLag } = service;
    const name = `${address}`;
    const kept = this.#kept.get(name);
    const isKept = cache !== null && address % cache.nth === 0;
    if (isKept && kept !== undefined && now - kept.at < cache.hours * hourMs) {
      this.isDirect = false;
      return kept.answer;
    }
    const isLate = replicaLag > 0 && hashOf(address) % 2 === 0;
    if (isLate) this.isDirect = false;
    const nameOf = (id: number) => this.#world.nameOf(list, id);
    const lag = isLate ? replicaLag : 0;
    const manner = { ...service, ...cut, nameOf, lag, answerNo: ++this.#answerNo };
    const answer = answerTo(ask, this.#world.lists[list], manner);
    if (isKept) this.#kept.set(name, { answer, at: now });
    return answer;
  }
}

/** Whether a list looks as if it was in the order of its keys, but for one record that has come late. */
function isRising(entries: readonly Entry[]): boolean {
  return entries.filter(({ key }, at) => key < (entries[at - 1]?.key ?? key)).length <= 1;
}
