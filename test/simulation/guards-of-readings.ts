import type { Guard } from './guard.ts';
import { gateOff, openEndOff } from './guards-of-store.ts';

const verdict = 'src/proof/verdict.ts';

/** The guards of readings that are held against each other. */
export const guardsOfReadings: readonly Guard[] = [
  {
    name: 'second-reading',
    holds: 'one reading of a list proves nothing',
    off: [
      {
        file: verdict,
        text: 'if (verdict !== null) return verdict;',
        instead: "return verdict ?? { kind: 'proven', changed: 'anything' };",
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'readings-agree',
    holds: 'two readings that hold different records prove nothing',
    off: [{ file: 'src/proof/agreement.ts', text: 'if (!sum.equals(whole)) continue;', instead: '' }],
    breaks: 'lost',
  },
  {
    name: 'walk-taken-up',
    holds: 'a walk with pages of an interrupted run is a first reading only',
    off: [
      {
        file: verdict,
        text: 'if (walks.length === 1 && !last.isTakenUp) {',
        instead: 'if (walks.length === 1) {',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'more-than-a-total',
    holds: 'where records came beyond a total, a page that came again in their place hides none',
    off: [
      {
        file: verdict,
        text: 'doubtOfEnd([partner, last], walks) ?? ',
        instead: '',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'other-page-size',
    holds: 'where a content stands on two pages, readings with the same cuts prove nothing',
    off: [
      {
        file: verdict,
        text: '?? doubtOfCuts(partner, last, walks, itemsOf);',
        instead: '?? (null as Doubt | null);',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'open-end',
    holds:
      'where a page came again for the one after the last, pages of another size end with the same record',
    off: [openEndOff],
    breaks: 'lost',
  },
  {
    name: 'third-page-size',
    holds: 'where a content stands on neighbouring pages, readings with two cuts prove nothing',
    off: [
      {
        file: 'src/proof/cuts.ts',
        text: 'if (!isNeighbouring && !isAlike) return null;',
        instead: 'return null;',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'repeats-in-the-mirror',
    holds: 'a mirror with equal sums is no first reading where a content may stand on two pages',
    off: [
      {
        file: verdict,
        text: 'if (sum?.equals(standing.sum) && !mayRepeat)',
        instead: 'if (sum?.equals(standing.sum))',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'pages-known-by-their-bytes',
    holds: 'pages that are what they were say nothing of a mirror with another number of rows',
    off: [{ file: verdict, text: 'strip.covered === sum.count &&', instead: '' }],
    behind: [gateOff],
    breaks: 'invented',
  },
];
