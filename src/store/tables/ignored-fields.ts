import { nothingIgnored } from '../../contract/content.ts';
import { tryToRead } from '../../errors.ts';
import { allValues, type Sqlite } from './ask.ts';

/** The fields that a run ignored, as `ignored_fields` has them: JSON of their names in order; null if it ignored none. */
export function ignoredText(names: readonly string[]): string | null {
  return names.length === 0 ? null : JSON.stringify(names);
}

/** The names in `ignored_fields`; none if another program put a text there that has none. */
export function ignoredNames(text: string | null): readonly string[] {
  const names: unknown = text === null ? [] : tryToRead(() => JSON.parse(text));
  return Array.isArray(names) ? names.filter(name => typeof name === 'string') : [];
}

/** Reads which fields each run left out of a list's contents, once: to compute a content again takes those of the run that wrote it. */
export function ignoredFields(sqlite: Sqlite, resource: string) {
  const ofList = `SELECT run_id, ignored_fields FROM sync_run_resources
    WHERE resource = ? AND ignored_fields IS NOT NULL`;
  const rows = sqlite.prepare<[string], [runId: number, names: string]>(ofList);
  const sets = new Map<string, ReadonlySet<string>>();
  const ofRuns = new Map<number, ReadonlySet<string>>();
  for (const [runId, text] of rows.raw().iterate(resource)) {
    const known = sets.get(text) ?? new Set(ignoredNames(text));
    sets.set(text, known);
    ofRuns.set(runId, known);
  }
  return (runId: number): ReadonlySet<string> => ofRuns.get(runId) ?? nothingIgnored;
}

/** The rows with a field that counts now, but that their run ignored: their contents do not say whether the service still has it. */
export function rowsOfIgnored(
  sqlite: Sqlite,
  { resource, table }: { readonly resource: string; readonly table: string },
  ignoredNow: readonly string[],
): ReadonlySet<number> {
  const names = "json_each(iif(json_valid(r.ignored_fields), r.ignored_fields, '[]'))";
  const query = `SELECT t.id FROM sync_run_resources r CROSS JOIN ${table} t ON t._changed_run_id = r.run_id
    WHERE r.resource = ? AND r.ignored_fields IS NOT NULL AND r.ignored_fields <> ? AND t._extra IS NOT NULL
      AND EXISTS (SELECT 1 FROM ${names} f JOIN json_each(t._extra) e ON e.key = f.value
        WHERE f.value NOT IN (SELECT value FROM json_each(?)))`;
  const now = JSON.stringify(ignoredNow);
  return new Set(allValues<number>(sqlite, query, resource, now, now));
}
