import * as parse from '../config/parse.ts';
import { resourceNames } from '../contract/lists.ts';
import { instantMs } from '../contract/time.ts';
import { UsageError } from '../errors.ts';
import { isFindingCode } from '../findings.ts';
import { acceptedLine } from '../render/accepted.ts';
import type { OutputOf } from '../render/outputs.ts';
import { linesOf, wrap } from '../render/table.ts';
import { readAccepted } from '../store/read/runs/rejected.ts';
import { accept, withdraw } from '../store/write/accept.ts';
import { command } from './command.ts';
import { mirrorSettings, numeral, option, parsed, typed, yes } from './flags.ts';
import { whenFree } from './io.ts';

const ids = [1, Number.MAX_SAFE_INTEGER] as const;

/** A moment to come, as docmirror records it; null if it is left out. A bare date is its midnight in UTC. */
const until = parsed('DATE', given => {
  const ms = instantMs(parse.filledText(given).trim());
  if (ms !== null && ms > Date.now()) return new Date(ms).toISOString();
  throw new Error(`expected a date to come, such as 2027-01-31, got ${JSON.stringify(given)}`);
});

export default command({
  arguments: { resource: option(resourceNames, 'LIST'), code: typed('CODE') },
  flags: {
    why: typed('TEXT'),
    record: numeral('N', ids),
    atMost: numeral('N', [0, Number.MAX_SAFE_INTEGER]),
    until,
    anyway: yes,
    withdraw: numeral('ID', ids),
  },
  settings: ['actor', 'waitMs', ...mirrorSettings],
  async run(given, { config: { database, actor, waitMs }, signal }) {
    const { resource, code, why, record, atMost, anyway, withdraw: id } = given;
    const options = [record, atMost, given.until].some(each => each !== null) || anyway;
    if (resource === null && id === null) {
      if (why !== null || options) throw new UsageError('Name the list and the code of the finding.');
      return { isAll: true, accepted: readAccepted(database) };
    }
    if (why === null) throw new UsageError('--why: say why it is accepted, or withdrawn.');
    const at = new Date().toISOString();
    if (id !== null) {
      if (resource !== null || options) throw new UsageError('--withdraw goes with --why alone.');
      const done = await whenFree(waitMs, signal, () => withdraw(database, id, { why, actor, at }));
      return { isAll: false, accepted: [done] };
    }
    const unknown = `${JSON.stringify(code ?? '')} is no code of a finding. docs/troubleshooting.md has them.`;
    if (resource === null || code === null || !isFindingCode(code)) throw new UsageError(unknown);
    const what = { resource, code, rejectedRecordId: record, atMost, until: given.until, anyway };
    const done = await whenFree(waitMs, signal, () => accept(database, { ...what, why, actor, at }));
    return { isAll: false, accepted: [done] };
  },
  output: ({ accepted }): OutputOf['accept'] => ({ accepted }),
  text({ isAll, accepted }, width) {
    if (accepted.length === 0) return 'No finding is accepted.\n';
    const lines = accepted.map(acceptedLine);
    if (!isAll && accepted[0]?.withdrawnAt === null)
      lines.push(
        'The reason stays in a receipt for ever. The next run goes by it, and so does "docmirror status" now.',
      );
    return linesOf(lines.flatMap(line => wrap(line, width)));
  },
});
