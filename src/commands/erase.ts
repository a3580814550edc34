import { keptResources } from '../contract/lists.ts';
import { printable } from '../printable.ts';
import { counted } from '../render/numbers.ts';
import type { OutputOf } from '../render/outputs.ts';
import { linesOf, wrap } from '../render/table.ts';
import { copiesOfBefore } from '../store/copies/backup.ts';
import { erase as eraseRecord } from '../store/write/erase.ts';
import { command } from './command.ts';
import { mirrorSettings, numeral, option, required } from './flags.ts';
import { whenFree } from './when-free.ts';

const places = [...keptResources, 'rejected-records'] as const;
const ids = [0, Number.MAX_SAFE_INTEGER] as const;

/** `docmirror erase` */
export const eraseCommand = command({
  arguments: {
    resource: required(option(places, 'RESOURCE', 'the list, connections, or rejected-records')),
    recordId: required(
      numeral('ID', 'its id in the mirror; for rejected-records that of the row in rejected_records', ids),
    ),
  },
  flags: {},
  settings: ['actor', 'waitMs', ...mirrorSettings],
  examples: {
    'docmirror erase document-exports 1': 'earlier texts of an export, also of one that was removed',
    'docmirror erase rejected-records 7': 'one rejected record, which might have no id of its own',
  },
  notes: [
    'The current text stays while the service lists the record: remove it there first, and sync. The text of rejected records of that id goes, too. The hash of each version stays, so the receipts are still valid.',
  ],
  exitCodes:
    '0 done, 1 the record does not exist and never did, or another program reads the mirror, 4 the history is not what its receipts say, 11 a run is using the mirror.',
  async run({ resource, recordId }, { config: { database, actor, waitMs }, signal }) {
    const order = { resource, recordId, actor, at: new Date().toISOString() };
    const erased = await whenFree(waitMs, signal, () => eraseRecord(database, order));
    return { resource, recordId, ...erased, copies: copiesOfBefore(database).map(({ path }) => path) };
  },
  output: (erased): OutputOf['erase'] => erased,
  text({ resource, recordId, versions, rejectedRecords, isListed, receipt, copies }, width) {
    const name = `${resource} ${recordId}`;
    const lines = [
      receipt === null
        ? `${name} has no text of ended versions or rejected records any more.`
        : `Erased for good: the text of ${counted(versions, 'ended version')} and ${counted(rejectedRecords, 'rejected record')} of ${name}. The newest receipt about it is ${receipt.leafIndex}.`,
      ...(isListed ? ['The service still lists the record, so its current version stays.'] : []),
      'Copies of the text can also be in backups, in exports, in ClickHouse, in files of Litestream, and in the share until it is made again with "docmirror share FILE". Names of connections can also be in ended versions of other records.',
    ];
    for (const copy of copies)
      lines.push(`${copy}, which docmirror made before an upgrade, can have the text, too. Remove it.`);
    return linesOf(lines.flatMap(line => wrap(printable(line), width)));
  },
});
