import { sqlite } from './run-cli.ts';

/** How many changes of each operation the feed of a list has: those of one run, or of all. */
export function feedOf(path: string, resource = 'document-exports', run?: number): Record<string, number> {
  const ofRun = run === undefined ? '' : `AND run_id = ${run}`;
  const rows = sqlite(
    path,
    `SELECT operation, count(*) AS n FROM changes WHERE resource = '${resource}' ${ofRun} GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ operation, n }) => [operation as string, n as number]));
}
