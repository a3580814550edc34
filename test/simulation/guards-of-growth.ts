import type { Edit, Guard } from './guard.ts';
import { gateOff } from './guards-of-store.ts';

const verdict = 'src/proof/verdict.ts';
const agreement = 'src/proof/agreement.ts';
const growth = 'src/proof/growth.ts';

/** A walk need not cover what stood when its end was proved, which mostly brings the bonus to the earlier walk, too. */
const endCoveredOff: Edit = {
  file: 'src/proof/walk-account.ts',
  text: 'const required = Math.max(totalRecordCount, this.#totalAtEnd ?? 0);',
  instead: 'const required = totalRecordCount;',
};

/** What came while a list was read is not read once more, which mostly finds out what was misread. */
const confirmationOff: Edit = {
  file: verdict,
  text: "if (growth !== null) return { kind: 'confirm', growth, changed: 'anything' };",
  instead: "if (growth !== null) return { kind: 'proven', changed: 'anything' };",
};

/** The guards of what came while a list was read, or since the mirror was written. */
export const guardsOfGrowth: readonly Guard[] = [
  {
    name: 'bonus',
    holds: 'the result is the later walk as a whole, with what the earlier one does not cover',
    off: [
      {
        file: 'src/sync/list.ts',
        text: 'const strip = last.strip as Strip;',
        instead: `const whole = last.strip as Strip;
  const covered = walks.at(-2)?.strip?.covered ?? whole.covered;
  const isBack = whole.counting === null && walks.at(-2)?.strip?.counting === 'back';
  const first = isBack ? whole.covered - covered : 0;
  const segments = whole.segments.flatMap(segment => {
    const from = Math.max(segment.from, first);
    const to = Math.min(segment.to, first + covered);
    if (from >= to) return [];
    const start = segment.items.from + (whole.counting === 'back' ? segment.to - to : from - segment.from);
    const items = { from: start, to: start + to - from };
    return [{ ...segment, from, to, items }];
  });
  const strip = { ...whole, segments };`,
      },
    ],
    behind: [endCoveredOff],
    breaks: 'removed-wrongly',
  },
  {
    name: 'bonus-in-the-agreed-part',
    holds: 'what came during the walks may not stand in the agreed part, too',
    off: [
      {
        file: agreement,
        text: 'if (pages.has(contentText(read.contents, at))) return doubtful;',
        instead: '',
      },
    ],
    breaks: 'invented',
  },
  {
    name: 'bonus-on-two-pages',
    holds: 'what came during the walks may not stand on two pages',
    off: [
      {
        file: agreement,
        text: 'if (!pages.add(contentText(read.contents, at), answer)) return doubtful;',
        instead: 'pages.add(contentText(read.contents, at), answer);',
      },
    ],
    behind: [confirmationOff],
    breaks: 'invented',
  },
  {
    name: 'sum-of-a-growth',
    holds: 'a list that only grew says the same as the mirror on the places that the mirror covers',
    off: [
      {
        file: growth,
        text: 'if (agreed === null || sumOfPlaces(strip, agreed, itemsOf)?.equals(sum) !== true) continue;',
        instead: 'if (agreed === null) continue;',
      },
    ],
    behind: [gateOff],
    breaks: 'lost',
  },
  {
    name: 'growth-is-new',
    holds: 'what a list grew by stands neither in the mirror nor on two pages',
    off: [
      {
        file: growth,
        text: 'if (!isAllNew(strip, growth.bonus, itemsOf)) continue;',
        instead: '',
      },
    ],
    breaks: 'invented',
  },
  {
    name: 'growth-end-is-learnt',
    holds:
      'unless a list is known to grow at one end and to change nowhere else, all of it is read once more',
    off: [
      {
        file: growth,
        text: 'return { ...growth, places: { from: 0, to: strip.covered } };',
        instead: 'return growth;',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'growth-alone',
    holds: 'only a list in which nothing changed or went for some sweeps is known to do nothing but grow',
    off: [
      {
        file: 'src/store/write/list-mirror.ts',
        text: 'hasOnlyGrown: sweeps.every(isOnlyGrowth),',
        instead: 'hasOnlyGrown: true,',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'growth-is-confirmed',
    holds: 'what a list grew by is read once more',
    off: [
      {
        file: 'src/sync/read-list.ts',
        text: 'const isConfirmed = await readGrowthAgain(task, first, verdict.growth, others);',
        instead: 'const isConfirmed = true;',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'growth-is-the-same-again',
    holds: 'what a list grew by is the same when it is read once more',
    off: [
      {
        file: growth,
        text: "return { kind: both.kind === 'laid' ? 'confirmed' : 'refuted' };",
        instead: "return { kind: 'confirmed' };",
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'repeats-in-a-growth',
    holds: 'a list in which a content may stand on two pages has not only grown',
    off: [
      {
        file: verdict,
        text: 'const growth = mayRepeat ? null : findGrowth(strip, standing, itemsOf);',
        instead: 'const growth = findGrowth(strip, standing, itemsOf);',
      },
    ],
    breaks: 'lost',
  },
];
