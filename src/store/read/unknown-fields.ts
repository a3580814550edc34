import type Database from 'better-sqlite3';
import { and, eq, sql } from 'drizzle-orm';
import { unknownFields } from '../tables/schema.ts';
import { prepare, select } from '../tables/statement.ts';

/** A row of `unknown_fields`, without its list. */
export interface SeenField {
  readonly field: string;
  readonly jsonType: string;
  readonly firstSeenRunId: number;
  readonly lastSeenRunId: number;
  /** Null if no full sync has seen it yet. */
  readonly recordCount: number | null;
}

/** The fields of a list that the service sends and no column exists for, without those that the last full sync no longer saw. */
export function readUnknownFields(sqlite: Database.Database, resource: string): SeenField[] {
  const { resource: of, field, jsonType, firstSeenRunId, lastSeenRunId, recordCount } = unknownFields;
  return prepare(sqlite, (list: string) =>
    select({ field, jsonType, firstSeenRunId, lastSeenRunId, recordCount })
      .from(unknownFields)
      .where(and(eq(of, list), sql`${recordCount} is not 0`))
      .orderBy(field, jsonType),
  ).all(resource);
}
