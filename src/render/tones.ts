import { faultsOf, type ListEnd, verdictText } from '../store/read/list-state.ts';

/** Words of a text for people that have a colour on a terminal: a cell of a table, or the begin of a line. */
export type Toned = { readonly words: string; readonly tone: 'good' | 'warn' | 'bad' };

/** The verdicts on lists, as `verdictText` says them. */
export function verdictTones(lists: readonly (ListEnd | null)[]): Toned[] {
  return lists.map(last => {
    const states = last === null ? [] : faultsOf(last).map(({ state }) => state);
    const tone = states.includes('failed') ? 'bad' : last?.status === 'completed' ? 'good' : 'warn';
    return { words: verdictText(last), tone };
  });
}
