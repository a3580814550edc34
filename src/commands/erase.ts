import { keptResources } from '../contract/lists.ts';
import { printable } from '../printable.ts';
import { counted } from '../render/numbers.ts';
import type { OutputOf } from '../render/outputs.ts';
import { linesOf, wrap } from '../render/table.ts';
import { copiesOfBefore } from '../store/copies/backup.ts';
import { erase as eraseRecord } from '../store/write/erase.ts';
import { command } from './command.ts';
import { mirrorSettings, numeral, option, required } from './flags.ts';
import { whenFree } from './io.ts';

const places = [...keptResources, 'rejected-records'] as const;
const ids = [0, Number.MAX_SAFE_INTEGER] as const;

export default command({
  arguments: { resource: required(option(places, 'RESOURCE')), recordId: required(numeral('ID', ids)) },
  flags: {},
  settings: ['actor', 'waitMs', ...mirrorSettings],
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
