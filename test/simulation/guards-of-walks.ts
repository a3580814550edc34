import type { Edit, Guard } from './guard.ts';
import { gateOff, openEndOff } from './guards-of-store.ts';

const account = 'src/proof/walk-account.ts';
const strip = 'src/proof/strip.ts';
const repeats = 'src/proof/repeats.ts';

/** A page that is asked for twice in one walk counts as one. */
const pagesByNumber: readonly Edit[] = [
  {
    file: repeats,
    text: 'if (before === undefined || before === answer) continue;',
    instead: 'if (before === undefined || before.index === answer.index) continue;',
  },
  {
    file: repeats,
    text: 'return before === undefined || before === page;',
    instead: 'return before === undefined || before.index === page.index;',
  },
];

/** The guards of one walk: it is whole, and nothing contradicts it. */
export const guardsOfWalks: readonly Guard[] = [
  {
    name: 'end-proved',
    holds: 'the page beyond the end is asked for before the end is believed',
    off: [
      {
        file: account,
        text: 'return this.#totalAtEnd === null && isGoingOn ? this.#plan.nextBeyond() : this.#closeGaps();',
        instead: 'return this.#closeGaps();',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'records-beyond-the-total',
    holds: 'records that no total tells of contradict it',
    off: [
      {
        file: account,
        text: `this.#contradict(\`page \${this.#name(index)} holds records, but totalRecordCount is \${answer.total}\`);`,
        instead: '',
      },
    ],
    breaks: 'removed-wrongly',
  },
  {
    name: 'count-against-total',
    holds: 'a page holds as many records as its own total says',
    off: [{ file: account, text: 'if (answer.count === due) return', instead: 'if (due > 0) return' }],
    breaks: 'lost',
  },
  {
    name: 'falling-total',
    holds: 'a total that falls while a list is read contradicts the walk',
    off: [
      { file: account, text: 'if (answer.total < asked.totalBefore) {', instead: 'if (answer.total < 0) {' },
    ],
    breaks: 'lost',
  },
  {
    name: 'page-that-was-asked-for',
    holds: 'an answer that says it is another page is not the one that was asked for',
    off: [
      {
        file: account,
        text: 'const isAskedPage = answer.pageNo === this.#name(asked.index);',
        instead: 'const isAskedPage = true;',
      },
    ],
    behind: [openEndOff],
    breaks: 'lost',
  },
  {
    name: 'gaps-of-a-walk',
    holds: 'a walk covers every place below the total that stood when it began',
    off: [
      {
        file: account,
        text: "this.#isOver = this.#contradictions.size > 0 || laid.kind !== 'strip' || laid.gaps.length === 0;",
        instead: 'this.#isOver = true;',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'overlaps',
    holds: 'two answers that cover one place hold the same there',
    off: [
      {
        file: strip,
        text: "if (alike !== true) return { kind: alike === null ? 'unread' : 'conflict' };",
        instead: "if (alike === null) return { kind: 'unread' };",
      },
    ],
    behind: pagesByNumber,
    breaks: 'lost',
  },
  {
    name: 'pages-are-answers',
    holds: 'a record on two answers stands on two pages, though both were asked for by one number',
    off: pagesByNumber,
    breaks: 'invented',
  },
  {
    name: 'clock',
    holds: 'in a list that grows at its front, places are counted from the back',
    off: [
      {
        file: strip,
        text: "const back = lay(answers, size, 'back', itemsOf);",
        instead: "const back: OneWay = { kind: 'conflict' };",
      },
    ],
    breaks: 'unproven',
  },
  {
    name: 'id-on-two-places',
    holds: 'an id that stands on two places contradicts the walk',
    off: [
      {
        file: 'src/proof/repeats.ts',
        text: 'else if (ids.has(id)) return { onTwoPages: true, onNeighbours: false, id };',
        instead: '',
      },
    ],
    behind: [gateOff],
    breaks: 'removed-wrongly',
  },
];
