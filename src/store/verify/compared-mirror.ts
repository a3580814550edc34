import { connectionContent, type StoredConnection } from '../../contract/content.ts';
import { type ListDefinition, lists } from '../../contract/lists.ts';
import type { ListMirror, ListOutcome, Mirror, RunBegun } from '../../sync/ports.ts';
import { type MirrorFile, openMirrorForReading } from '../file/open.ts';
import { columnsOf, orAsBefore } from '../tables/connection-columns.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { ComparedList } from './compared-list.ts';
import type { FieldDifference, LiveDifference } from './live-differences.ts';

export type { LiveDifference };

/**
 * A mirror for a run that only compares: nothing is recorded or changed, and no lock is taken that another run would wait for.
 * All that is compared is of one state of the file.
 */
export class ComparedMirror implements Mirror {
  readonly #file: MirrorFile;
  readonly #lists = new Map<string, ComparedList>();
  readonly #report: (difference: LiveDifference) => void;

  /** @throws MirrorFileError where there is no mirror, or it can't be read. */
  constructor(path: string, report: (difference: LiveDifference) => void) {
    this.#file = openMirrorForReading(path);
    this.#file.sqlite.exec('BEGIN');
    this.#report = report;
  }

  async beginRun(): Promise<RunBegun> {
    return { runId: null, rowsDropped: null };
  }

  async openList(list: ListDefinition): Promise<ListMirror> {
    const compared = new ComparedList(this.#file.sqlite, list, this.#report);
    this.#lists.set(list.resource, compared);
    return compared;
  }

  async recordList(outcome: ListOutcome): Promise<ListOutcome> {
    return outcome;
  }

  async pruneHistory(): Promise<void> {}

  async endRun(): Promise<null> {
    return null;
  }

  /** Holds the connections against what the lists say of them; to be called when all lists were walked. */
  compareConnections(): void {
    const claims = this.#believedClaims();
    for (const row of new ConnectionTable(this.#file.sqlite).rows()) {
      const claim = claims.get(row.id);
      claims.delete(row.id);
      const key = String(row.id);
      const fields = claim === undefined ? [] : differencesOf(row, claim);
      if (claim === undefined) this.#add('extra', row.id, key, []);
      else if (fields.length > 0) this.#add('different', row.id, key, fields);
    }
    for (const id of claims.keys()) this.#add('missing', null, String(id), []);
  }

  close(): void {
    this.#file.close();
  }

  /** What is believed of each connection: the word of the list that counts most, of those that give its name, or further fields. */
  #believedClaims(): Map<number, StoredConnection> {
    const believed = new Map<number, StoredConnection>();
    for (const list of lists.toSorted((a, b) => a.connectionNameRank - b.connectionNameRank)) {
      for (const { id, name, extra } of this.#lists.get(list.resource)?.claims ?? []) {
        const before = believed.get(id);
        believed.set(id, { id, name: name ?? before?.name ?? null, extra: extra ?? before?.extra ?? null });
      }
    }
    return believed;
  }

  #add(kind: LiveDifference['kind'], id: number | null, key: string, fields: FieldDifference[]): void {
    this.#report({ kind, resource: 'connections', id, key, fields });
  }
}

/** Nulls among the further fields, and their order, make no difference, and neither does what no list gives any more. */
function differencesOf(row: StoredConnection, claim: StoredConnection): FieldDifference[] {
  const service = columnsOf(orAsBefore(claim, row));
  if (connectionContent(row).equals(connectionContent({ id: row.id, ...service }))) return [];
  const fields: FieldDifference[] = [
    { field: 'name', mirror: row.name, service: service.name },
    { field: '_extra', mirror: row.extra, service: service.extra },
  ];
  return fields.filter(({ mirror, service }) => mirror !== service);
}
