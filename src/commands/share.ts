import { lists } from '../contract/lists.ts';
import { UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { bytesText } from '../render/numbers.ts';
import type { ShareOutput } from '../render/outputs/files.ts';
import { makeShare, type Share } from '../store/share/share.ts';
import { command } from './command.ts';
import { choicesOf, file, yes } from './flags.ts';
import { readShareSql } from './share-after-run.ts';
import { mirrorSettings } from './shared-flags.ts';

/** The fields that a share can leave out: by their names, and by those of their lists, too. */
const fields = lists.flatMap(list =>
  list.fields.map(({ name }) => ({ name, ofList: `${list.resource}.${name}` })),
);
const fieldNames = [...new Set(fields.map(({ name }) => name)), ...fields.map(({ ofList }) => ofList)];

/** `docmirror share` */
export const share = command({
  arguments: { target: file('the file to write (default: what DOCMIRROR_SHARE names)') },
  flags: {
    without: choicesOf(
      fieldNames,
      'FIELD',
      'leave this field empty, for example sourceDocumentTitle or webhooks.description; repeat it for more',
    ),
    withoutHistory: yes('leave out the versions of records that ended'),
    sql: file('statements that run on the copy before it gets its place [DOCMIRROR_SHARE_SQL]'),
  },
  settings: mirrorSettings,
  examples: [
    { line: 'docmirror share /srv/share/mirror.sqlite', meaning: 'one file, which any SQLite reads' },
    {
      line: 'docmirror share public.sqlite --without sourceDocumentTitle --without-history',
      meaning: 'with less in it',
    },
    { line: 'docmirror share public.sqlite --sql views.sql', meaning: 'with views of your own' },
  ],
  notes: [
    'Read permission is enough to open it, also in a folder or on a mount that the reader can not write. It contains the work of runs that have ended: lists, connections, history, runs and all views. Webhook endpoints are cut to scheme and host, and rejected records have no text. If a reader has the old file open, it goes on reading that one.',
    'With DOCMIRROR_SHARE, "sync" and "watch" make it again after each run that changed something. Commands that only read take it as --database.',
  ],
  exitCodes: '0 done, 1 failed, 2 usage, or a file that a share never replaces.',
  async run(given, { config, signal }) {
    const target = given.target ?? config.share;
    if (target === null)
      throw new UsageError('Name the file to write, or set DOCMIRROR_SHARE: docmirror share FILE');
    const sql =
      given.sql === null
        ? await readShareSql('DOCMIRROR_SHARE_SQL', config.shareSql)
        : await readShareSql('--sql', given.sql);
    return makeShare({
      database: config.database,
      target,
      name: 'FILE',
      without: given.without ?? [],
      withHistory: !given.withoutHistory,
      sql,
      signal,
    });
  },
  output: (made): ShareOutput => made,
  text: textOf,
});

function textOf({ path, runId, bytes, leftOut }: Share): string {
  const state = runId === null ? 'no run has ended yet' : `the mirror as of run ${runId}`;
  const lines = [
    `${path}: ${state}, ${bytesText(bytes)}.`,
    ...leftOut.map(view => `The view ${view} was left out: it can't be read without what the share lacks.`),
  ];
  return lines.map(line => `${printable(line)}\n`).join('');
}
