import type { Finding } from './oracle.ts';
import type { Contents } from './records.ts';
import type { ServiceList } from './service-list.ts';

/**
 * Compares a run with the lives of records, whatever texts they had: an edit ends none, and does not make two of one.
 *
 * @param isExact whether the list is proven, with all of its records.
 * @param isDecided the same, or with some left out; and no cache or replica gave an answer.
 */
export function judgeRecords(
  list: ServiceList,
  before: Contents,
  after: Contents,
  { isExact, isDecided }: { readonly isExact: boolean; readonly isDecided: boolean },
): Pick<Finding, 'kind' | 'what'>[] {
  const { least, most } = list.lifetimesOfRecords();
  // A row whose text was never listed is another fault, or that of another program.
  const recordsIn = (contents: Contents) =>
    list.recordsIn(new Map([...contents].filter(([content]) => list.ever.has(content))));
  const [known, held] = [recordsIn(before), recordsIn(after)];
  const findings: Pick<Finding, 'kind' | 'what'>[] = [];
  const short = [...least].filter(([name, count]) => (held.get(name) ?? 0) < count);
  const gone = short.find(([name, count]) => (held.get(name) ?? 0) < Math.min(count, known.get(name) ?? 0));
  if (isDecided && gone !== undefined)
    findings.push({
      kind: 'removed-wrongly',
      what: `a record listed throughout, known, and gone: ${gone[0]}`,
    });
  else if (isDecided && short[0] !== undefined)
    findings.push({ kind: 'lost', what: `a record listed throughout and not in the mirror: ${short[0][0]}` });
  const many = [...held].find(([name, count]) => count > (most.get(name) ?? 0) && (most.get(name) ?? 0) > 0);
  if (isExact && many !== undefined)
    findings.push({
      kind: 'invented',
      what: `${many[1]} rows of a record that was listed ${most.get(many[0])} times at once: ${many[0]}`,
    });
  return findings;
}
