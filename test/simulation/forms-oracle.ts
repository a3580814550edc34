import type { MirrorState } from './mirror-rows.ts';
import type { Finding } from './oracle.ts';
import type { Contents } from './records.ts';
import type { ListReport } from './run-real.ts';
import type { ServiceList } from './service-list.ts';

/**
 * What means the same is no change: a set in another order, or an instant in another zone. No update is counted and no version kept of it, and
 * the row has the form that it had. Nothing else may have written to the mirror, and the records have no further fields.
 *
 * @param words null if the process died.
 */
export function judgeForms(
  list: ServiceList,
  before: MirrorState,
  after: MirrorState,
  words: ListReport | null,
): Pick<Finding, 'kind' | 'what'>[] {
  const { name } = list;
  const [had, has] = [before.lists[name], after.lists[name]];
  const changed = changedIn(list, had, has);
  const wrong: string[] = [];
  const isNewRun = after.runId > before.runId;
  if (isNewRun && after.versions[name] > changed)
    wrong.push(`${after.versions[name]} versions ended, of ${changed} rows whose content changed`);
  // Of two exports of one identity, one can go and another one come.
  const isRight = name === 'document-exports' ? (words?.updated ?? 0) <= changed : words?.updated === changed;
  if (words !== null && !isRight)
    wrong.push(`${words.updated} updates, of ${changed} rows whose content changed`);
  const restyled = [...had].find(
    ([content, count]) =>
      has.get(content) === count && after.forms[name].get(content) !== before.forms[name].get(content),
  );
  if (restyled !== undefined) {
    const [content] = restyled;
    wrong.push(`a row has another form: ${content} was ${before.forms[name].get(content)}`);
  }
  return wrong.map(what => ({ kind: 'rewritten', what }));
}

/** How many rows stay and have another content. */
function changedIn(list: ServiceList, before: Contents, after: Contents): number {
  const [had, has] = [list.recordsIn(before), list.recordsIn(after)];
  let staying = 0;
  for (const [record, count] of had) staying += Math.min(count, has.get(record) ?? 0);
  for (const [content, count] of before) staying -= Math.min(count, after.get(content) ?? 0);
  return staying;
}
