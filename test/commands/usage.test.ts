import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

/** What is typed, the variables beside it, and what is said of it. In words, `FILE` is a file of settings with these lines. */
type Row = [words: string, said: string | RegExp, env?: Record<string, string>, lines?: string];

const variable = (name: string, value: string, said: string | RegExp = `${name}: `): Row => [
  'sync',
  said,
  { [name]: value },
];

const settings: Row[] = [
  variable('DOCMIRROR_BASE_URL', '', 'DOCMIRROR_BASE_URL is not set'),
  variable('DOCMIRROR_BASE_URL', 'not an address'),
  variable('DOCMIRROR_BASE_URL', 'ftp://127.0.0.1/'),
  variable('DOCMIRROR_BASE_URL', 'http://127.0.0.1:9/a b'),
  variable('DOCMIRROR_BASE_URL', 'http://service.example/'),
  variable('DOCMIRROR_BASE_URL', 'http://a.localhost/'),
  variable('DOCMIRROR_BASE_URL', 'https://user:secret-token@service.example/'),
  variable('DOCMIRROR_TOKEN', '', 'DOCMIRROR_TOKEN is not set'),
  variable('DOCMIRROR_TOKEN', 'secret-token\n2'),
  variable('DOCMIRROR_TOKEN', '"secret-token"', /the token is in quotes/),
  variable('DOCMIRROR_TOKEN', '\u201csecret-token', /has one at an end/),
  variable('DOCMIRROR_TOKEN', 'Bearer secret-token', /begins with the word Bearer/),
  variable('DOCMIRROR_TOKEN', 'Authorization: Bearer secret-token', /leave the name of the header/),
  variable('DOCMIRROR_TOKEN', 'DOCMIRROR_TOKEN=secret-token', /begins with NAME=/),
  variable('DOCMIRROR_TOKEN', 'export TOKEN=secret-token', /begins with NAME=/),
  variable('DOCMIRROR_BASE_URL', '"https://service.example"', /the address is in quotes/),
  variable('DOCMIRROR_BASE_URL', 'BASE_URL=https://service.example', /the address begins with NAME=/),
  variable('DOCMIRROR_ALLOW_HTTP', 'perhaps'),
  variable('HTTP_PROXY', 'http://proxy.example:8080', 'would carry the token'),
  variable('DOCMIRROR_PAGE_SIZE', '0'),
  variable('DOCMIRROR_PAGE_SIZE', 'many'),
  variable('DOCMIRROR_CONCURRENCY', '-1'),
  variable('DOCMIRROR_TIMEOUT_MS', '1e3'),
  variable('DOCMIRROR_GIVE_UP_AFTER', '5'),
  variable('DOCMIRROR_GIVE_UP_AFTER', '25d'),
  variable('DOCMIRROR_MAX_REQUESTS_PER_SECOND', '0'),
  variable('DOCMIRROR_DEADLINE', '0'),
  variable('DOCMIRROR_WAIT', 'long'),
  variable('DOCMIRROR_MAX_PAGES', '0'),
  variable('DOCMIRROR_FULL_EVERY', 'daily'),
  variable('DOCMIRROR_FULL_EVERY', '365001d'),
  variable('DOCMIRROR_MAX_REMOVALS', '150%'),
  ...['0', '0d', '30', '1y', 'never', '365001d'].map(text => variable('DOCMIRROR_KEEP_HISTORY', text)),
  variable('DOCMIRROR_KEEP_HISTORY', 'never', /expected forever, or a time such as 400d, got "never"/),
  ...['downloadUrl', 'webhooks.', '.etag', 'webhooks.etag,', 'webhooks.a\u001b[31m', 'webhooks etag'].map(
    text =>
      variable(
        'DOCMIRROR_IGNORE_FIELDS',
        text,
        /expected LIST\.FIELD with commas between, such as .*, got "/,
      ),
  ),
  variable(
    'DOCMIRROR_IGNORE_FIELDS',
    'exports.etag',
    /no list "exports"; expected one of document-exports, /,
  ),
  variable('DOCMIRROR_IGNORE_FIELDS', 'connections.etag', /no list "connections"/),
  variable('DOCMIRROR_IGNORE_FIELDS', 'webhooks.etag,webhooks.events', /webhooks\.events always counts/),
  variable('DOCMIRROR_IGNORE_FIELDS', 'collections.id', /collections\.id always counts/),
  variable('DOCMIRROR_IGNORE_FIELDS', 'document-exports.id', /document-exports\.id always counts/),
  variable('DOCMIRROR_ACTOR', 'night\u001b[31m'),
  variable('DOCMIRROR_ACTOR', 'x'.repeat(201)),
  variable('DOCMIRROR_LABELS', 'acme'),
  variable('DOCMIRROR_LABELS', 'tenant=acme,tenant=other'),
  variable('DOCMIRROR_LABELS', 'resource=acme'),
  variable('DOCMIRROR_LABELS', 'command=sync,env=prod', 'command is there twice, or'),
  variable('DOCMIRROR_LABELS', 'constructor=a,constructor=b', 'constructor is there twice'),
  variable('DOCMIRROR_TRIGGER', 'by hand'),
  variable('DOCMIRROR_LOG_LEVEL', 'loud'),
  variable('DOCMIRROR_TIMEZONE', 'Mars/Olympus'),
  ...['*/90 * * * *', '0 */25 * * *', '0 0 * */13 *', '*/61 * * * * *', '5,*/90 * * * *'].map(
    (text): Row => [
      'watch',
      /DOCMIRROR_SCHEDULE: the step of \S+ is longer than its field/,
      { DOCMIRROR_SCHEDULE: text },
    ],
  ),
  ['watch', 'DOCMIRROR_SCHEDULE', { DOCMIRROR_SCHEDULE: '0 * * *' }],
  ['watch', 'DOCMIRROR_SCHEDULE', { DOCMIRROR_SCHEDULE: '61 * * * *' }],
  ['watch', 'DOCMIRROR_SCHEDULE', { DOCMIRROR_SCHEDULE: '0 0 30 2 *' }],
  variable('DOCMIRROR_DATABASE', '/nowhere/mirror.sqlite'),
  variable('DOCMIRROR_RETRIES', '5', 'DOCMIRROR_RETRIES is not a setting'),
  variable('HTTP_PROXY', 'http://u:secret-token@127.0.0.1:1/path'),
  variable('http_proxy', 'http://127.0.0.1:1/?secret-token'),
  variable('HTTP_PROXY', '127.0.0.1:1/#secret-token'),
  ['publish clickhouse --print-ddl', 'is not a setting', { DOCMIRROR_CLICKHOUSE_DATABAS: 'prod' }],
  ['audit keygen /nowhere/key.pem', 'is not a setting', { DOCMIRROR_CLICKHOUSE_DATABAS: 'prod' }],
];

const flags: Row[] = [
  ['bogus --help', "unknown command 'bogus'"],
  ...['constructor', 'toString', '__proto__', 'hasOwnProperty'].flatMap((word): Row[] => [
    [`help ${word}`, `unknown command '${word}'`],
    [word, `unknown command '${word}'`],
  ]),
  ['help bogus', "unknown command 'bogus'"],
  ['snyc', 'Did you mean sync?'],
  ['publish clickhose', 'Did you mean clickhouse?'],
  ['sync --dryrun', "unknown option '--dryrun'. Did you mean --dry-run?"],
  ['sync --tokn=secret-token', '--tokn=…'],
  ['sync --base-url http://127.0.0.1:9/a\tb', '--base-url: not an address'],
  ['sync --page-size none', '--page-size: '],
  ['watch --ignore-fields webhooks.endpoint', '--ignore-fields: webhooks.endpoint always counts'],
  ['sync --resource invoices', 'Expected one of document-exports, collections, webhooks.'],
  ['sync --rebuild --resource webhooks', '--resource'],
  ['sync --rebuild --dry-run', '--dry-run'],
  ['changes --format xml', 'Expected one of table, ndjson, csv, parquet, xlsx.'],
  ['runs --limit 0', '--limit: '],
  ['status --max-age old', '--max-age: '],
  ['watch --max-age 1h', '--max-age goes with --http'],
  ['serve --port 65536', '--port: '],
  ['serve --port http', '--port: '],
  ['serve --token-file ./nowhere', /--token-file: .* can't be read \(ENOENT\)/],
  ['report --timezone Europe/Atlantis', 'there is no time zone'],
  ['completion tcsh', 'Expected one of bash, zsh, fish.'],
  ['completion bash more', /too many arguments/],
  ['publish', '"docmirror publish" needs one more word'],
  ['sync --base-url', "'--base-url <URL>' argument missing"],
  ['backup', 'Name the file to write: docmirror backup DEST'],
  ['backup --list ./nowhere', '--list: there is no folder'],
  ['backup copies --max-age 1d', '--max-age goes with --list'],
  ['share', 'Name the file to write'],
  ['verify --public-key ./key.pem', '--public-key'],
  ['watch --http 8080', '--http: expected HOST:PORT'],
  ['publish clickhouse', 'DOCMIRROR_CLICKHOUSE_URL is not set'],
  ['publish clickhouse --url http://127.0.0.1:9', 'DOCMIRROR_TENANT is not set'],
  ['publish clickhouse --replace-tenant', '--replace-tenant goes with --again'],
  ['publish clickhouse --cluster one', '--cluster goes with --print-ddl'],
  ...[
    ['--database', 'sync'],
    ['--database', 'verify'],
    ['--database', ''],
    ['--base-url', 'sync'],
    ['--env-file', 'sync'],
    ['--public-key', 'verify --checkpoint checkpoint'],
    ['--check', 'backup'],
    ['--restore', 'backup'],
    ['--tenant', 'publish clickhouse --url http://127.0.0.1:9'],
    ['--url', 'publish clickhouse --tenant acme'],
  ].map(
    ([flag, words]): Row => [
      `${words} ${flag} one ${flag} two`.trim(),
      new RegExp(`${flag} .*It can be given once`),
    ],
  ),
];

const envFiles: Row[] = [
  ['status --env-file nowhere.env', /--env-file: .*nowhere\.env can't be read \(ENOENT\)\./],
  ['status --env-file FILE', 'DOCMIRROR_PAGESIZE is not a setting', {}, 'DOCMIRROR_PAGESIZE=1\n'],
  ['sync --env-file FILE', 'is not of the form NAME=value.', {}, '# mine\nDOCMIRROR_PAGE_SIZE 7\n'],
  ['sync --env-file FILE', /line 1 of .* has a # in its value.*quotes/, {}, 'DOCMIRROR_TOKEN=to#ken\n'],
  ['sync --env-file FILE', /line 2 of .* has a #/, {}, 'A=7\nDOCMIRROR_DATABASE=/x/my #1.sqlite\n'],
  ['sync --env-file FILE', 'a comment on a line of its own', {}, 'DOCMIRROR_CONCURRENCY=2 # two\n'],
  ['sync --env-file FILE', 'is too large', {}, '# more than anybody writes\n'.repeat(200_000)],
];

test.each([...settings, ...flags, ...envFiles])(
  '%s is refused in one line that says %s, with exit code 2',
  async (words, said, env = {}, lines = '') => {
    await using scene = await setScene({}, { exports: 1 });
    const file = join(scene.folder, 'one.env');
    if (lines !== '') writeFileSync(file, lines);
    const before = readdirSync(scene.folder);
    const args = words.split(' ').filter(word => word !== '');
    const { code, stdout, stderr } = await runCli(
      args.map(word => (word === 'FILE' ? file : word)),
      { env: { ...scene.env, ...env }, cwd: scene.folder },
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^docmirror: [^\n]+ \[settings\]\n$/);
    expect(stderr).toMatch(said);
    expect(stderr).not.toMatch(/secret-token|(?!\n)\p{Cc}/u);
    expect(readdirSync(scene.folder)).toEqual(before);
    expect(scene.service.requests).toEqual([]);
  },
);
