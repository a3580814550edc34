import { readSmallFile } from '../config/small-file.ts';
import { UsageError } from '../errors.ts';
import { queryFormats, queryPieces } from '../render/query-result.ts';
import { Query } from '../store/read/query.ts';
import { command } from './command.ts';
import { defaulting, option, repeated, typed } from './flags.ts';
import { widthOf } from './io.ts';
import { deliver, outFlag, Tally } from './stream-out.ts';

/** `docmirror query` */
export const query = command({
  arguments: { sql: typed('SQL', 'the statement; with --file it is in a file') },
  flags: {
    format: defaulting(option(queryFormats, 'FORMAT', 'how to print the rows'), 'table'),
    file: typed('FILE', 'the file with the statement'),
    param: repeated(typed('NAME=VALUE', 'the value of :NAME in the statement, as text; repeat it for more')),
    out: outFlag,
  },
  examples: {
    'docmirror query "SELECT * FROM sync_status"': 'how fresh each list is',
    'docmirror query "SELECT * FROM collections_named WHERE id > :after" --param after=3 --format csv':
      'with a parameter, for a program',
  },
  notes: [
    'The SQLite of docmirror runs the statement, on the mirror or on a share, and writes nothing to it. Whole numbers are exact, BLOBs are lower-case hexadecimal, and in JSON an infinite number is the text "Infinity" or "-Infinity". --format parquet runs the statement twice, because a column has one type there.',
    'Tables and columns: docs/tables.md. Statements to begin with: docs/querying.md.',
  ],
  exitCodes: '2 the statement is wrong, does not only read, or returns no rows.',
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
    if (twice !== undefined && format !== 'table' && format !== 'csv')
      throw new UsageError(
        `Two columns are named ${JSON.stringify(twice)}, which --format ${format} can't keep apart. Name one of them with AS.`,
      );
    const tally = new Tally();
    const width = out === null ? widthOf(stdout) : Number.POSITIVE_INFINITY;
    const rows = () => tally.of(query.rows());
    await deliver(await queryPieces(query.columns, rows, format, width), tally, { format, out }, context);
  },
});
