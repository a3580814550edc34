import { keptResources, lists } from '../../contract/lists.ts';
import type { CommandEntry } from './entry.ts';
import {
  cursorFlags,
  fileFlag,
  mirrorFlags,
  once,
  resourceFlag,
  serviceFlags,
  spreadsheetFlag,
  toldFlags,
} from './shared-flags.ts';

/** The fields that a share can leave out: by their names, and by those of their lists, too. */
const fields = lists.flatMap(list =>
  list.fields.map(({ name }) => ({ name, ofList: `${list.resource}.${name}` })),
);
const fieldNames = [...new Set(fields.map(({ name }) => name)), ...fields.map(({ ofList }) => ofList)];

/** The commands that audit the mirror, and those that bring it elsewhere. */
export const copyCommands = [
  {
    name: 'verify',
    description:
      "Audit the mirror: SQLite's own checks, every row, the history and the runs' records; with --live also the service.",
    flags: [
      {
        flag: '--live',
        help: 'read the service, and name records that the mirror lacks, has too many of or has in another form',
      },
      { flag: '--limit', valueName: 'N', help: 'how many differences to show', default: '100' },
      {
        ...fileFlag(
          '--checkpoint',
          'the history up to that checkpoint must be unaltered; repeat it for more',
        ),
        isRepeatable: true,
      },
      once(fileFlag('--public-key', 'the key that must have signed each checkpoint')),
      { flag: '--json', help: 'print it as one JSON object' },
    ],
    settings: [...serviceFlags, 'signingKeyFile', 'waitMs', ...toldFlags, ...mirrorFlags],
    examples: [
      { line: 'docmirror verify', meaning: 'is the file what docmirror wrote?' },
      { line: 'docmirror verify --live', meaning: 'is it also what the service lists now?' },
      { line: 'docmirror verify --json > audit.json', meaning: 'for scripts' },
    ],
    notes: [
      'Nothing is written, and a run in progress does not have to wait. --live reads every list at least twice.',
    ],
    exitCodes:
      '0 sound, 4 a difference was found; with --live also 1 nothing could be compared, 3 not all could, 12 the service refused the token.',
  },
  {
    name: 'share',
    description: 'Make a copy of the mirror that everybody can read, and put it in its place in one step.',
    arguments: [
      { name: 'FILE', help: 'the file to write (default: what DOCMIRROR_SHARE names)', offers: 'files' },
    ],
    flags: [
      {
        flag: '--without',
        valueName: 'FIELD',
        help: 'leave this field empty, for example sourceDocumentTitle or webhooks.description; repeat it for more',
        choices: fieldNames,
        isRepeatable: true,
      },
      { flag: '--without-history', help: 'leave out the versions of records that ended' },
      fileFlag('--sql', 'statements that run on the copy before it gets its place [DOCMIRROR_SHARE_SQL]'),
      { flag: '--json', help: 'print what was made as one JSON object' },
    ],
    settings: mirrorFlags,
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
  },
  {
    name: 'backup',
    description: 'Copy the mirror while it is in use, and prove the copy before it gets its name.',
    arguments: [{ name: 'DEST', help: 'the file to write, or with --keep the folder', offers: 'files' }],
    flags: [
      {
        flag: '--keep',
        valueName: 'N',
        help: "write into the folder DEST under the mirror's name and the time of now, and keep the newest N of this mirror",
      },
      once(fileFlag('--check', 'make no backup, but verify an old one')),
      once(fileFlag('--restore', 'make no backup, but replace the mirror by an old one')),
      {
        flag: '--list',
        valueName: 'FOLDER',
        help: 'make no backup, but list those in a folder, mirror by mirror, and check the SHA-256 of the newest',
        offers: 'folders',
        isOnce: true,
      },
      {
        flag: '--max-age',
        valueName: 'TIME',
        help: 'with --list: exit 4 if the newest of a mirror is older, for example 26h, or there is none',
      },
      { flag: '--json', help: 'print it as one JSON object' },
    ],
    settings: ['baseUrl', 'signingKeyFile', 'waitMs', ...toldFlags, ...mirrorFlags],
    examples: [
      { line: 'docmirror backup copy.sqlite', meaning: 'one file, replaced when the new copy is proven' },
      {
        line: 'docmirror backup backups --keep 14',
        meaning: 'files named by mirror and time, the newest 14',
      },
      { line: 'docmirror backup --list backups --max-age 26h', meaning: 'is there a new one, unaltered?' },
      { line: 'docmirror backup --restore copy.sqlite', meaning: 'replace the mirror by it' },
    ],
    notes: [
      "A sync can run meanwhile. The backup is one state of the mirror, in a single file that opens anywhere and only its owner can read. Beside it is its manifest, COPY.json: mirror, run, root hash, counts, size and SHA-256. If DOCMIRROR_SIGNING_KEY_FILE is set, backup also writes a signed checkpoint, and --check compares the copy with it. --restore replaces the mirror, if the backup is proven and no run is using the mirror. Don't copy a backup there by hand: files that SQLite left beside the old mirror would damage it.",
    ],
    exitCodes:
      "0 done, 1 failed, 2 a file that is not docmirror's is in the way, or the backup is of another service, 4 the newest backup is too old or altered, or a copy is not sound, 11 a run is using the mirror that was to be restored.",
  },
  {
    name: 'upgrade',
    description: 'Bring mirrors of an older shape up to date, without the network.',
    arguments: [
      {
        name: 'FILE',
        help: 'the mirrors (default: that of the settings)',
        isRepeatable: true,
        offers: 'files',
      },
    ],
    flags: [
      { flag: '--check', help: 'only say what would happen; exit 4 if a mirror has to be upgraded' },
      { flag: '--json', help: 'print what was done with each mirror as one JSON object' },
    ],
    settings: ['waitMs', ...mirrorFlags],
    examples: [
      { line: 'docmirror upgrade', meaning: 'after docmirror itself was updated' },
      { line: 'docmirror upgrade --check mirrors/*.sqlite', meaning: 'does any of them have to be?' },
    ],
    notes: [
      'A mirror is copied to FILE.before-VERSION first, and then upgraded in one step, which is done or not begun. That takes twice its size of free disk. "sync" and "watch" do the same when they begin. If one of many files can not be upgraded, the others are.',
      'Mirrors of 0.1 and 0.2 are not upgraded (mirror_too_old). docs/upgrading.md has the way back to an older docmirror.',
    ],
    exitCodes:
      '0 done, or nothing to do, 1 failed, 2 a file that is no mirror, or of 0.1, 0.2 or a newer docmirror, 4 with --check: a mirror has to be upgraded, 11 a run is using the mirror. Of several failures, the first counts.',
  },
  {
    name: 'erase',
    description: "Remove the text of a record's ended versions for good, and write a receipt about it.",
    arguments: [
      {
        name: 'RESOURCE',
        help: 'the list, connections, or rejected-records',
        isRequired: true,
        choices: [...keptResources, 'rejected-records'],
      },
      {
        name: 'ID',
        help: 'its id in the mirror; for rejected-records that of the row in rejected_records',
        isRequired: true,
      },
    ],
    flags: [{ flag: '--json', help: 'print what was erased as one JSON object' }],
    settings: ['actor', 'waitMs', ...mirrorFlags],
    examples: [
      {
        line: 'docmirror erase document-exports 1',
        meaning: 'earlier texts of an export, also of one that was removed',
      },
      {
        line: 'docmirror erase connections 1 --json',
        meaning: 'earlier names of a connection, for a program',
      },
      {
        line: 'docmirror erase rejected-records 7',
        meaning: 'one rejected record, which might have no id of its own',
      },
    ],
    notes: [
      'The current text stays while the service lists the record: remove it there first, and sync. The text of rejected records of that id goes, too. The hash of each version stays, so the receipts are still valid. Backups, exports, ClickHouse and the share keep their copies until they are made again.',
    ],
    exitCodes:
      '0 done, 1 the record does not exist and never did, 4 the history is not what its receipts say, 11 a run is using the mirror.',
  },
  {
    name: 'export',
    description: 'Write the lists, as they are or were, or the change feed into files for other tools.',
    flags: [
      {
        flag: '--format',
        valueName: 'FORMAT',
        help: 'how to write them',
        choices: ['ndjson', 'csv', 'parquet'],
        default: 'ndjson',
      },
      spreadsheetFlag,
      {
        flag: '--names',
        help: 'with --format csv or parquet: the names of connections beside their ids',
        conflicts: ['--changes'],
      },
      {
        flag: '--out',
        valueName: 'DIR',
        help: 'the folder to write into; it is made if it does not exist',
        isRequired: true,
        offers: 'folders',
      },
      resourceFlag,
      {
        flag: '--as-of-run',
        valueName: 'N',
        help: 'the lists as they were after this run',
        conflicts: ['--as-of', '--changes'],
        offers: 'runs',
      },
      {
        flag: '--as-of',
        valueName: 'TIME',
        help: 'the lists as the last run until then had left them; UTC if it has no zone; a date without a time means midnight UTC',
        conflicts: ['--changes'],
      },
      { flag: '--changes', help: 'the change feed, a folder a run, instead of the lists' },
      {
        flag: '--since-run',
        valueName: 'N',
        help: 'with --changes: only of later runs than this one',
        offers: 'runs',
      },
      ...cursorFlags.map(flag => ({
        ...flag,
        help: `with --changes: ${flag.help.replace('with --cursor: ', '')}`,
      })),
    ],
    settings: mirrorFlags,
    examples: [
      { line: 'docmirror export --out lists', meaning: "a file a list, in the service's own shape" },
      {
        line: 'docmirror export --format parquet --out lists --as-of-run 1',
        meaning: 'the lists as they were after run 1',
      },
      {
        line: 'docmirror export --format csv --names --spreadsheet --out sheets',
        meaning: 'for Excel and the like',
      },
      {
        line: 'docmirror export --format parquet --out feed --changes --cursor c --next n && mv n c',
        meaning: 'each change once: feed/changes/run_id=2/changes.parquet and so on',
      },
    ],
    notes: [
      'Files appear under their names when all of them are complete; an older file of that name is replaced. Then --next is written; "docmirror help changes" says what a cursor is.',
    ],
    exitCodes: '4 the mirror can not say what came after the cursor (cursor_lost); nothing was written.',
  },
  {
    name: 'publish clickhouse',
    description: 'Insert the new runs into ClickHouse, and compare what arrived with the mirror.',
    flags: [
      { flag: '--again', help: 'send everything again, also rows that are there already' },
      {
        flag: '--replace-tenant',
        help: "with --again: delete the tenant's rows before, whichever mirror they came from",
      },
      {
        flag: '--print-ddl',
        help: 'print the statements that make database, tables and views, and connect to nothing',
      },
      {
        flag: '--cluster',
        valueName: 'NAME',
        help: 'with --print-ddl: replicated tables, distributed over this cluster by tenant',
      },
      { flag: '--json', help: 'print what was done as one JSON object' },
    ],
    settings: [
      'clickhouseUrl',
      'clickhouseUser',
      'clickhousePassword',
      'clickhousePasswordFile',
      'clickhouseDatabase',
      'tenant',
      'allowHttp',
      'timeoutMs',
      'giveUpAfterMs',
      'pingUrl',
      ...mirrorFlags,
    ],
    examples: [
      {
        line: 'docmirror publish clickhouse --print-ddl > tables.sql',
        meaning: 'once a server: its tables, for clickhouse-client --multiquery',
      },
      {
        line: 'docmirror publish clickhouse --url https://clickhouse.example:8443 --tenant acme',
        meaning: 'the runs that are not there yet; as often as you like',
      },
      {
        line: 'docmirror publish clickhouse --again',
        meaning: 'everything again, if rows there were lost or changed',
      },
    ],
    notes: [
      'Only runs that have ended are published. If a publication was cut off, the next one completes it, and nothing is there twice.',
    ],
    exitCodes:
      "0 done and verified, 1 failed, 2 settings, tables, password or another mirror's tenant, 4 ClickHouse does not have what the mirror has.",
  },
] as const satisfies readonly CommandEntry[];
