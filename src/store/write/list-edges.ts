import { eq } from 'drizzle-orm';
import type { ListEdges } from '../../proof/incremental.ts';
import type { MirrorFile } from '../file/open.ts';
import { listEdges } from '../tables/schema.ts';

/** How the ends of a list looked to the last run that was sure of them; null where none was. */
export function readEdges({ orm }: MirrorFile, resource: string): ListEdges | null {
  const row = orm.select().from(listEdges).where(eq(listEdges.resource, resource)).get();
  return row === undefined ? null : (JSON.parse(row.edges) as ListEdges);
}

/** Writes down how the ends of a list look now, unless that is what stands there; null forgets them. */
export function writeEdges(file: MirrorFile, resource: string, runId: number, edges: ListEdges | null): void {
  const { orm } = file;
  if (edges === null) {
    orm.delete(listEdges).where(eq(listEdges.resource, resource)).run();
    return;
  }
  const row = { resource, runId, edges: JSON.stringify(edges) };
  orm.insert(listEdges).values(row).onConflictDoUpdate({ target: listEdges.resource, set: row }).run();
}
