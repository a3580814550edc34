import { keptResources } from '../../contract/lists.ts';
import type { CommandEntry } from './entry.ts';
import {
  cursorFlags,
  fileFlag,
  maxAgeFlag,
  mirrorFlags,
  once,
  resourceFlag,
  spreadsheetFlag,
} from './shared-flags.ts';

/** The commands that answer a question about the mirror. */
export const answerCommands = [
  {
    name: 'status',
    description:
      'Show how fresh each list is, its last run, its record count and how complete it is. With several mirrors: one line each.',
    arguments: [
      {
        name: 'FILE',
        help: 'mirrors: one line each, the worst first (default: the lists of the mirror that --database names)',
        isRepeatable: true,
        offers: 'files',
      },
    ],
    flags: [
      {
        flag: '--format',
        valueName: 'FORMAT',
        help: 'how to print it',
        choices: ['table', 'prometheus'],
        default: 'table',
      },
      {
        flag: '--strict',
        help: 'exit 4 if a list is failed, unproven, withheld, rejected or older than --max-age, if a run died, or if a mirror can not be read',
      },
      { flag: '--json', help: 'print it as one JSON object' },
      maxAgeFlag(
        'exit 4 if a list has had no completed run for longer, for example 26h, or its end is in the future',
      ),
    ],
    settings: mirrorFlags,
    examples: [
      { line: 'docmirror status', meaning: 'the state of the lists' },
      { line: 'docmirror status --max-age 26h --strict', meaning: 'a health check' },
      { line: 'docmirror status --strict docmirror*.sqlite', meaning: 'all tenants, the worst first' },
    ],
    notes: [
      'A run whose process is gone is "died" here; the next run records it as interrupted. A list that is being read is judged by its last run that ended.',
    ],
    exitCodes: '4 a list is older than --max-age, or what --strict says; 1 a mirror can not be read.',
  },
  {
    name: 'runs',
    description: 'Show the run history, the newest run first.',
    flags: [
      { flag: '--limit', valueName: 'N', help: 'how many runs', default: '20' },
      { flag: '--json', help: 'print it as one JSON array, with how each list ended' },
    ],
    settings: mirrorFlags,
    examples: [
      { line: 'docmirror runs', meaning: 'the newest twenty' },
      { line: 'docmirror runs --limit 1 --json', meaning: 'the last one, for scripts' },
    ],
  },
  {
    name: 'changes',
    description: 'Show what was inserted, updated and removed: by the last run, or since a run or a time.',
    flags: [
      {
        flag: '--since-run',
        valueName: 'N',
        help: 'changes of later runs than this one',
        conflicts: ['--since'],
        offers: 'runs',
      },
      {
        flag: '--since',
        valueName: 'TIME',
        help: 'changes of runs that ended after this date or time (UTC if it has no zone; a date without a time means midnight UTC), or in the last 24h, 7d and so on',
      },
      {
        flag: '--until-run',
        valueName: 'N',
        help: 'no changes of later runs than this one',
        offers: 'runs',
      },
      ...cursorFlags,
      resourceFlag,
      {
        flag: '--format',
        valueName: 'FORMAT',
        help: 'how to print them',
        choices: ['table', 'ndjson', 'csv'],
        default: 'table',
      },
      spreadsheetFlag,
    ],
    settings: mirrorFlags,
    examples: [
      { line: 'docmirror changes', meaning: 'the changes of the last run' },
      {
        line: 'docmirror changes --since-run 1 --format ndjson',
        meaning: 'all changes of later runs, for a program',
      },
      {
        line: 'docmirror changes --since 24h --resource webhooks --format csv',
        meaning: 'one list, the last 24 hours, one column a field',
      },
      {
        line: 'docmirror changes --cursor c --next n --format ndjson > batch && mv n c',
        meaning: 'each change once: what is new since the last time; process the batch before the mv',
      },
    ],
    notes: [
      'Only runs that have ended count. --since-run 0 prints everything from the beginning.',
      'A cursor says which changes were delivered. docmirror reads the file that --cursor names. When all changes are printed, it writes the file that --next names. Move that one to the other when you have processed the changes. If there is no cursor yet, docmirror begins at the first run.',
    ],
    exitCodes: '4 the mirror can not say what came after the cursor (cursor_lost); nothing was printed.',
  },
  {
    name: 'query',
    description: 'Run one SQL statement that reads, and print its rows.',
    arguments: [{ name: 'SQL', help: 'the statement; with --file it is in a file' }],
    flags: [
      {
        flag: '--format',
        valueName: 'FORMAT',
        help: 'how to print the rows',
        choices: ['table', 'csv', 'json', 'ndjson', 'parquet'],
        default: 'table',
      },
      once(fileFlag('--file', 'the file with the statement')),
      {
        flag: '--param',
        valueName: 'NAME=VALUE',
        help: 'the value of :NAME in the statement, as text; repeat it for more',
        isRepeatable: true,
      },
      fileFlag('--out', 'write the result to this file; it gets its name when it is complete'),
    ],
    settings: mirrorFlags,
    examples: [
      { line: 'docmirror query "SELECT * FROM sync_status"', meaning: 'how fresh each list is' },
      {
        line: 'docmirror query "SELECT * FROM collections_named WHERE id > :after" --param after=3 --format csv',
        meaning: 'with a parameter, for a program',
      },
      {
        line: 'docmirror query --file monthly.sql --format parquet --out monthly.parquet',
        meaning: 'a statement that is kept in a file',
      },
    ],
    notes: [
      'The SQLite that is built into docmirror runs the statement, on the mirror or on a share, and nothing is written to it. Ctrl-C stops it. Whole numbers are exact, and BLOBs are lower-case hexadecimal. --format parquet runs the statement twice, because a column has one type there.',
      'docs/tables.md lists the tables and columns, and docs/querying.md has statements to begin with.',
    ],
    exitCodes: '2 the statement is wrong, does not only read, or returns no rows.',
  },
  {
    name: 'show',
    description:
      'Show one record: its current text, and each version that it ever had, with the runs that changed it.',
    arguments: [
      { name: 'RESOURCE', help: 'the list, or connections', isRequired: true, choices: keptResources },
      { name: 'ID', help: 'its id; for document-exports also its sourceDocumentReference', isRequired: true },
    ],
    flags: [{ flag: '--json', help: 'print it as one JSON object, with complete values' }],
    settings: mirrorFlags,
    examples: [
      { line: 'docmirror show document-exports 1', meaning: 'an export, by the id that the mirror gave it' },
      { line: 'docmirror show connections 1 --json', meaning: 'with complete values, for a program' },
    ],
    notes: [
      'A record that is gone is shown with its last text. If several exports have the reference, they are listed.',
    ],
    exitCodes: '1 the record does not exist, and never did.',
  },
  {
    name: 'rejected',
    description: 'Show the records that could not be read: why, how many, and their text.',
    flags: [
      { flag: '--limit', valueName: 'N', help: 'how many records, the last rejected first', default: '20' },
      { flag: '--json', help: 'print it as one JSON object, with complete texts' },
    ],
    settings: mirrorFlags,
    examples: [
      { line: 'docmirror rejected', meaning: 'the reasons, and some records' },
      {
        line: 'docmirror rejected --json --limit 1000',
        meaning: 'complete texts, for those who run the service',
      },
    ],
    notes: [
      'A reason counts as "still" if the newest run that wrote the list rejected the record again. A share has no texts. "docmirror erase rejected-records ID" removes a text for good.',
    ],
  },
  {
    name: 'report',
    description:
      'Write one HTML page on a period: what needs attention, exports against the period before, what changed, and how complete the lists are.',
    flags: [
      {
        flag: '--since',
        valueName: 'TIME',
        help: 'where the period begins: a date or time, or a length before its end, for example 24h or 30d',
        default: '30d',
      },
      {
        flag: '--until',
        valueName: 'TIME',
        help: 'where it ends, itself not included: a date or time (default: now)',
      },
      { flag: '--title', valueName: 'TEXT', help: 'the title at its top' },
      {
        flag: '--out',
        valueName: 'FILE',
        help: 'the file to write; it is replaced in one step',
        default: 'docmirror-report.html',
        offers: 'files',
      },
      maxAgeFlag('point out lists that have had no completed run for longer, for example 26h'),
    ],
    settings: ['timezone', ...mirrorFlags],
    examples: [
      { line: 'docmirror report', meaning: 'docmirror-report.html, on the last 30 days' },
      {
        line: 'docmirror report --since 2026-10-01 --until 2026-11-01 --timezone Europe/Zurich --title "Contracts, October"',
        meaning: 'a month, against the month before',
      },
      { line: 'docmirror report --out today.html --max-age 26h', meaning: 'with stale lists pointed out' },
    ],
    notes: [
      'The period begins and ends with a whole day of the time zone or, if it is at most two days long, with a whole hour. If it is not over, it is compared with an equal part of the period before.',
      "The file needs nothing else: no network, no scripts. It prints on two pages. It contains names and titles of the service's records, so share it only with people who are allowed to see these.",
    ],
  },
  {
    name: 'serve',
    description:
      "Serve the mirror over HTTP, read-only, in the service's own shape; for browsers a report, lists with filters, records, a search.",
    flags: [
      { flag: '--host', valueName: 'HOST', help: 'the address to listen on', default: '127.0.0.1' },
      {
        flag: '--port',
        valueName: 'PORT',
        help: 'the port to listen on; 0 for any that is free',
        default: '8080',
      },
      {
        flag: '--token',
        valueName: 'TOKEN',
        help: 'the bearer token that clients must send (default: a new one at each start, which is shown)',
      },
      fileFlag(
        '--token-file',
        'a file that contains the token that clients must send; it is read again when a token is refused',
      ),
      maxAgeFlag('/healthz answers 503 if a list has had no completed run for longer'),
    ],
    settings: mirrorFlags,
    examples: [
      { line: 'docmirror serve', meaning: 'with a token made for this time' },
      { line: 'docmirror serve --port 0 --token "$KEY"', meaning: 'on any free port' },
      {
        line: 'docmirror serve --host 0.0.0.0 --max-age 26h --token-file serve-token',
        meaning: 'for other machines',
      },
    ],
    notes: [
      'The first line on standard output ends with the address. It serves until SIGINT or SIGTERM. The lists need the token as bearer token; the pages from / on take it as a password, too, under any user name. /healthz, /livez, /metrics and /openapi.json contain no record and need no token.',
    ],
    exitCodes: '129, 130 and 143 ended by SIGHUP, SIGINT and SIGTERM.',
  },
] as const satisfies readonly CommandEntry[];
