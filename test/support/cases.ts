/**
 * Whether tests of many cases play all of them, as `npm run test:long` does, or some, as `npm test` does. Such a file has another one beside
 * it, which imports it: the tests of `x.test.ts` are played with all cases by `x.long.test.ts`.
 */
export const playsAll: boolean = process.env.CASES === 'all';

/** All cases, or each one in so many of them, from the first on. */
export function casesOf<Case>(all: readonly Case[], oneIn: number): readonly Case[] {
  return playsAll ? all : all.filter((_, at) => at % oneIn === 0);
}

/** All of them, or the one whose turn it is at a place in a list of cases. */
export function inTurn<One>(all: readonly One[], place: number): readonly One[] {
  return playsAll ? all : all.filter((_, at) => at === place % all.length);
}
