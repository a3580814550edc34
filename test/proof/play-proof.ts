import type { Answer, Ask } from '../../src/proof/answers.ts';
import type { Proof } from '../../src/proof/conclude.ts';
import type { Identity } from '../../src/proof/keys.ts';
import type { ListFacts } from '../../src/proof/log.ts';
import { ofId, ofRow, ofText, PageItems, showing } from '../../src/proof/page-items.ts';
import { overlapOf } from '../../src/proof/plan.ts';
import { prove } from '../../src/proof/prove.ts';
import type { AbsentRow, Asking } from '../../src/proof/questions.ts';

/** A record of a made-up list. Its content is its text and, if the list has no ids, tells it from others. */
export interface Entry {
  readonly key: number;
  readonly content: number;
}

/** A service with a list, as a proof meets it. */
export interface Service {
  list: Entry[];
  readonly identity: Identity;
  readonly hasOneSize?: boolean;
  /** Called before each answer. */
  readonly onAsk?: (ask: Ask, number: number) => void;
  /** The content of a record that it counts and never shows. */
  readonly hidden?: number;
  /** Whether the mirror does not have a record like this; it has all if it is left out. */
  readonly isNew?: (entry: Entry) => boolean;
  /** The total that it states, if it is not the number of its records. */
  readonly totalOf?: (ask: Ask) => number;
  /** Whether its last page ends where its total says, as if that was counted before. */
  readonly isCutAtTotal?: boolean;
  /** The number of pages that it states; none if it is left out. */
  readonly pageCountOf?: (ask: Ask) => number;
  /** The size of all pages, whatever size is asked for and stated; the one that is asked for if it is left out. */
  readonly echoes?: number;
  /** The mirror's rows that no answer leaves room for; none if it is left out. */
  readonly absent?: () => readonly AbsentRow[];
}

/** Plays a part of a proof against a service, and returns what it proved with all that was asked for. */
export function play<Result>(asking: Asking<Result>, service: Service): { result: Result; asked: Ask[] } {
  const asked: Ask[] = [];
  let tick = 0;
  let step = asking.next();
  while (step.done !== true) {
    if (step.value.kind !== 'pages') {
      step = asking.next({ kind: 'absent', rows: service.absent?.() ?? [] });
      continue;
    }
    const answers: Answer[] = [];
    for (const ask of step.value.pages) {
      asked.push(ask);
      service.onAsk?.(ask, asked.length);
      const { list, identity, hasOneSize = false } = service;
      const total = service.totalOf?.(ask) ?? list.length;
      const end = service.isCutAtTotal ? total : list.length;
      const size = service.echoes ?? ask.size;
      const cut = list.slice(ask.index * size, Math.min(end, (ask.index + 1) * size));
      const items = cut.filter(({ content }) => content !== service.hidden);
      const keys = Float64Array.from(items, ({ key }) => key);
      const isOther = hasOneSize && ask.size !== 20;
      answers.push({
        ...ask,
        asked: ++tick,
        arrived: ++tick,
        at: 0,
        isRecalled: false,
        total,
        page: new PageItems(
          `${[...keys]} ${items.map(({ content }) => content)}`,
          keys,
          showing(
            items.map(({ key, content }) => ({
              record: identity === 'id' ? ofId(key) : ofRow(content),
              version: ofText(content),
            })),
          ),
          identity,
        ),
        wrong: isOther
          ? { kind: 'size', finding: { code: 'page_size_ignored', asked: ask.size, served: 20 } }
          : null,
        pageCount: service.pageCountOf?.(ask) ?? null,
        oldestNewKeys: items
          .filter(item => service.isNew?.(item) === true)
          .map(({ key }) => key)
          .slice(0, 1),
      });
      if (step.value.stop(answers.at(-1) as Answer)) break;
    }
    step = asking.next({ kind: 'pages', answers });
  }
  return { result: step.value, asked };
}

/** So many records, in the order of their keys. */
export const counted = (count: number, from = 0): Entry[] =>
  Array.from({ length: count }, (_, at) => ({ key: (from + at) * 100, content: from + at + 1 }));

/** What `prove` says of a service, with all that it asked for. */
export function proven(
  service: Service,
  { absent, ...some }: Partial<ListFacts & Pick<Service, 'absent'>> = {},
): { result: Proof; asked: Ask[] } {
  const facts: ListFacts = {
    identity: service.identity,
    largest: 20,
    overlap: overlapOf(some.largest ?? 20, service.identity),
    learnt: null,
    run: 1,
    totalBefore: service.list.length,
    ...some,
  };
  if (absent !== undefined) Object.assign(service, { absent });
  return play(prove(facts), service);
}
