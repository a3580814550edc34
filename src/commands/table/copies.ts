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
        help: 'walk the service, and name what the mirror lacks, has too much or has otherwise',
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
    settings: [...serviceFlags, 'signingKeyFile', ...toldFlags, ...mirrorFlags],
    examples: [
      { line: 'docmirror verify', meaning: 'is the file what docmirror wrote?' },
      { line: 'docmirror verify --live', meaning: 'is it also what the service lists now?' },
      { line: 'docmirror verify --json > audit.json', meaning: 'for scripts' },
    ],
    notes: [
      'Nothing is written, and a run that is under way is not held up. --live reads every list at least twice.',
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
        help: 'leave this field empty, such as sourceDocumentTitle or webhooks.description; repeat it for more',
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
      'Read permission is enough to open it, also in a folder or on a mount that its reader can not write. It contains what ended runs left: lists, connections, history, runs and all views. Webhook endpoints are cut to scheme and host, and rejected records have no text. A reader that has the old file open reads on in it.',
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
      once(fileFlag('--restore', 'make no backup, but put an old one in the place of the mirror')),
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
        help: 'with --list: exit 4 if the newest of a mirror is older, such as 26h, or there is none',
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
      { line: 'docmirror backup --restore copy.sqlite', meaning: 'put it in the place of the mirror' },
    ],
    notes: [
      "A sync may run meanwhile: the backup is one state of the mirror, a single file that opens anywhere, for its owner only. Beside it is its manifest, COPY.json: which mirror, run, root hash, counts, size and SHA-256. Where DOCMIRROR_SIGNING_KEY_FILE is set, a signed checkpoint is written beside the copy, and --check holds the copy against it. --restore puts a backup in the mirror's place, once it is proven and while no run is using the mirror; don't copy it there by hand, for what SQLite left beside the old mirror would damage it.",
    ],
    exitCodes:
      "0 done, 1 failed, 2 a file that is not docmirror's is in the way, or the backup is of another service, 4 the newest backup is too old or altered, or the copy, or the file that was checked or was to be restored, is not sound, 11 a run is using the mirror that was to be restored.",
  },
  {
    name: 'erase',
    description: "Remove the text of a record's ended versions for good, with a receipt that says so.",
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
        meaning: 'what an export said before, or before it was removed',
      },
      {
        line: 'docmirror erase connections 1 --json',
        meaning: 'earlier names of a connection, for a program',
      },
      {
        line: 'docmirror erase rejected-records 7',
        meaning: 'one rejected record, which may have no id of its own',
      },
    ],
    notes: [
      'What the service still lists stays: remove it there first, and sync. The text of rejected records of that id goes, too. The hash of each version stays, so the receipts still hold. Backups, exports, ClickHouse and the share keep their copies until they are made again.',
    ],
    exitCodes:
      '0 done, 1 there is no such record and never was, 4 the history is not what its receipts say, 11 a run is using the mirror.',
  },
  {
    name: 'export',
    description: 'Write the lists, as they stand or stood, or the change feed into files for other tools.',
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
        help: 'the folder to write into; it is made where there is none',
        isRequired: true,
        offers: 'folders',
      },
      resourceFlag,
      {
        flag: '--as-of-run',
        valueName: 'N',
        help: 'the lists as they stood after this run',
        conflicts: ['--as-of', '--changes'],
        offers: 'runs',
      },
      {
        flag: '--as-of',
        valueName: 'TIME',
        help: 'the lists as the last run until then had left them; UTC where it has no zone, and a bare date is its midnight',
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
        meaning: 'as the lists stood after run 1',
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
      'Files appear under their names when all of them are whole; an older file of that name is replaced. Then --next is written; "docmirror help changes" says what a cursor is.',
    ],
    exitCodes: '4 the mirror can not tell what came after the cursor (cursor_lost); nothing was written.',
  },
  {
    name: 'publish clickhouse',
    description: 'Insert the new runs into ClickHouse, and compare what arrived with the mirror.',
    flags: [
      { flag: '--again', help: 'send everything once more, also what is there already' },
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
        meaning: 'everything once more, where rows there were lost or changed',
      },
    ],
    notes: [
      'Only runs that have ended are published. What was cut off is completed by the next time, and nothing is there twice.',
    ],
    exitCodes:
      "0 done and verified, 1 failed, 2 settings, tables, password or another mirror's tenant, 4 ClickHouse does not hold what the mirror holds.",
  },
] as const satisfies readonly CommandEntry[];
