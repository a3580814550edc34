import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import type { ResourceName } from '../../src/contract/lists.ts';
import type { ListOutcome } from '../../src/store/tables/run.ts';
import { type InProcessOptions, type InProcessSynced, syncScene } from './in-process.ts';
import { sqlite } from './run-cli.ts';

/** What identifies an export: its reference and its time in milliseconds. */
export interface Identity {
  readonly reference: number;
  readonly at: number;
}

/** An export whose text can change. */
export interface Exported extends Identity {
  readonly title: string;
}

const keyOf = ({ reference, at }: Identity): string => `${reference} ${at}`;

/** Sees what is listed while a run reads, so that a test can say whether the run's claims are true. */
export class Witness {
  #throughout = new Set<string>();
  /** The texts that each record had at any moment of the run. */
  #texts = new Map<string, Set<string>>();

  beginRun(listed: Iterable<Exported>): void {
    this.#throughout = new Set();
    this.#texts = new Map();
    for (const record of listed) {
      this.#throughout.add(keyOf(record));
      this.show(record);
    }
  }

  /** A record is in the list from now on, or with another text. */
  show(record: Exported): void {
    const texts = this.#texts.get(keyOf(record));
    if (texts === undefined) this.#texts.set(keyOf(record), new Set([record.title]));
    else texts.add(record.title);
  }

  /** A record is not in the list any more. */
  hide(record: Identity): void {
    this.#throughout.delete(keyOf(record));
  }

  /**
   * What of a mirror is not true. Whatever a run says, a record has one row, and no row of a record that was listed all the time is
   * removed. If it says `proven`, all of these have a row, and no row is of a record or a text that was not listed during the run.
   *
   * @param before the rows before the run.
   */
  falseClaims(before: readonly Exported[], after: readonly Exported[], isProven: boolean): string[] {
    const keys = new Set(after.map(keyOf));
    const removed = before.map(keyOf).filter(key => this.#throughout.has(key) && !keys.has(key));
    const claims = removed.map(key => `${key} was removed`);
    if (keys.size < after.length) claims.push(`${after.length - keys.size} rows too many`);
    if (!isProven) return claims;
    claims.push(...this.missing(after).map(key => `${key} is missing`));
    for (const row of after) {
      const texts = this.#texts.get(keyOf(row));
      if (texts === undefined) claims.push(`${keyOf(row)} was never listed`);
      else if (!texts.has(row.title)) claims.push(`${keyOf(row)} never had the title ${row.title}`);
    }
    return claims;
  }

  /** The records that were listed all the time and have no row. */
  missing(rows: readonly Identity[]): string[] {
    const keys = new Set(rows.map(keyOf));
    return [...this.#throughout].filter(key => !keys.has(key));
  }
}

const queries: Readonly<Record<ResourceName, string>> = {
  'document-exports': `
    SELECT CAST(source_document_reference AS INTEGER) AS reference, exported_at_ms AS at, source_document_title AS title
      FROM document_exports`,
  collections: 'SELECT id AS reference, 0 AS at, name AS title FROM collections',
  webhooks: 'SELECT id AS reference, 0 AS at, description AS title FROM webhooks',
};

/** The records of a list in a mirror. Those with ids have no time: `at` is 0. */
export function rowsOf(database: string, resource: ResourceName = 'document-exports'): Exported[] {
  return sqlite(database, queries[resource]) as unknown as Exported[];
}

/** A service that is watched. */
export interface Watched {
  /** Its list; exports if it is left out. */
  readonly resource?: ResourceName;
  readonly url: string;
  readonly options: { readonly token: string };
  /** The pages of one reading. */
  readonly pages: number;
  readonly witness: Witness;
  readonly rows: () => Promise<readonly Exported[]> | readonly Exported[];
}

type SyncOptions = InProcessOptions & { concurrency?: number; allowMassRemoval?: boolean };

/** The most requests of one full reading, whatever the service does. */
export const requestsMax = (pages: number): number => 12 * pages + 100;

/** How a night ended. */
export interface Night {
  readonly code: number;
  readonly outcome: ListOutcome;
  /** Its requests, as a multiple of those of one reading. */
  readonly readings: number;
  /** The records that were listed all the time and are not in the mirror. */
  readonly missing: readonly string[];
}

/** Syncs the list of a service, and gives the rows of before and after. */
export async function watchNight(
  database: string,
  service: Watched,
  options: SyncOptions = {},
): Promise<Night & { readonly before: readonly Exported[]; readonly after: readonly Exported[] }> {
  const { resource = 'document-exports', witness, pages } = service;
  const before = existsSync(database) ? rowsOf(database, resource) : [];
  witness.beginRun(await service.rows());
  const scene = { service, database };
  const synced: InProcessSynced = await syncScene(scene, { resources: [resource], ...options });
  const outcome = synced.of(resource);
  const after = rowsOf(database, resource);
  return {
    code: synced.code,
    outcome,
    readings: outcome.requests / pages,
    missing: witness.missing(after),
    before,
    after,
  };
}

/** Syncs the list of a service, and expects that what the run claims is true. */
export async function passNight(
  database: string,
  service: Watched,
  options: SyncOptions = {},
): Promise<Night> {
  const { before, after, ...night } = await watchNight(database, service, options);
  const { completeness, reason } = night.outcome;
  const isProven = completeness === 'proven' || completeness === 'incremental';
  expect(service.witness.falseClaims(before, after, isProven).slice(0, 5), `${reason}`).toEqual([]);
  return night;
}

/** As `passNight`, of a night that is ordinary: everything is proven, and nobody has to look. */
export async function passOrdinaryNight(
  database: string,
  service: Watched,
  most: number,
  options: SyncOptions = {},
): Promise<Night> {
  const night = await passNight(database, service, options);
  expect({ code: night.code, reason: night.outcome.reason }).toEqual({ code: 0, reason: null });
  expect(night.readings).toBeLessThanOrEqual(most);
  return night;
}
