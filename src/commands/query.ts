import { readSmallFile } from '../config/small-file.ts';
import { UsageError } from '../errors.ts';
import { queryFormats, queryPieces } from '../render/query-result.ts';
import { Query } from '../store/read/query.ts';
import { command } from './command.ts';
import { defaulting, option, repeated, typed } from './flags.ts';
import { widthOf } from './io.ts';
import { deliver, outFlag, Tally } from './stream-out.ts';

export default command({
  arguments: { sql: typed('SQL') },
  flags: {
    format: defaulting(option(queryFormats, 'FORMAT'), 'table'),
    file: typed('FILE'),
    param: repeated(typed('NAME=VALUE')),
    out: outFlag,
  },
  async run({ format, out, ...given }, context) {
    const { config, stdout } = context;
    const { file } = given;
    if ((given.sql === null) === (file === null))
      throw new UsageError(
        'Give one statement, as in: docmirror query "SELECT * FROM sync_status", or its file with --file.',
      );
    const sql = given.sql ?? readSmallFile('--file: ', file ?? '').replace(/^\ufeff/, '');
    const params = given.param.map(text => {
      const [, name, value] = /^[:@$]?(\w+)=(.*)$/s.exec(text) ?? [];
      if (name !== undefined) return [name, value];
      throw new UsageError(`--param: expected NAME=VALUE, got ${JSON.stringify(text)}`);
    });
    using query = new Query(config.database, { sql, params: Object.fromEntries(params) });
    const names = query.columns.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    const unclear = `Two columns are named ${JSON.stringify(twice)}, which --format ${format} can't keep apart. Name one of them with AS.`;
    if (twice !== undefined && format !== 'table' && format !== 'csv') throw new UsageError(unclear);
    const tally = new Tally();
    const width = out === null ? widthOf(stdout) : Number.POSITIVE_INFINITY;
    const rows = () => tally.of(query.rows());
    await deliver(await queryPieces(query.columns, rows, format, width), tally, { format, out }, context);
  },
});
