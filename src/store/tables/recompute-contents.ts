import type Database from 'better-sqlite3';
import { connectionContent, contentOf, normalExtra } from '../../contract/content.ts';
import { keptResources, lists } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { ConnectionTable } from './connection-table.ts';
import { ContentSum, versionFingerprint, versionFingerprintBefore } from './content-sums.ts';
import { ListTable } from './list-table.ts';
import { storedVersions } from './record-lives.ts';

/**
 * Computes the content of each row of a list from its columns, puts right what stands otherwise, and returns the sum over them.
 * Further fields get the form of now, which says the same: 0.1.0 kept some numbers and letters as they came.
 */
function recomputeContents(table: ListTable): Sum {
  const sum = new Sum();
  for (const id of [...table.ids()]) {
    const { record, content } = table.read(id);
    const right = contentOf(table.list, record);
    sum.addHex(right);
    const extra = normalExtra(record.extra);
    if (right !== content || extra !== record.extra) table.setContent(id, right, extra);
  }
  return sum;
}

/**
 * Computes all contents and all sums over rows anew, inside the transaction that upgrades a mirror: 0.1.0 had other ones, and a
 * reference that is new to the contract takes its connection's name out of a record's content.
 */
export function recomputeAll(sqlite: Database.Database): void {
  for (const list of lists) {
    const sum = recomputeContents(new ListTable(sqlite, list));
    new ContentSum(sqlite, list.table, list.resource).replace(sum);
  }
  upgradeConnections(sqlite);
  for (const resource of keptResources) sumUpHistory(sqlite, resource);
}

function upgradeConnections(sqlite: Database.Database): void {
  const sum = new Sum();
  const setContent = sqlite.prepare('UPDATE connections SET _content = ?, _extra = ? WHERE id = ?');
  for (const row of [...new ConnectionTable(sqlite).rows()]) {
    const content = connectionContent(row);
    sum.add(content);
    setContent.run(content, normalExtra(row.extra), row.id);
  }
  new ContentSum(sqlite, 'connections', 'connections').replace(sum);
}

/** Ended versions get new fingerprints and a new sum of them; what others changed before keeps its wrong one, and is found. */
function sumUpHistory(sqlite: Database.Database, resource: string): void {
  const sum = new Sum();
  const setFingerprint = sqlite.prepare('UPDATE record_history SET _fingerprint = ? WHERE id = ?');
  for (const version of [...storedVersions(sqlite, resource)]) {
    const fingerprint = versionFingerprint(version);
    sum.add(fingerprint);
    const isAsWritten = version.fingerprint?.equals(versionFingerprintBefore(version)) === true;
    if (isAsWritten) setFingerprint.run(fingerprint, version.id);
  }
  new ContentSum(sqlite, 'record_history', resource).replace(sum);
}
