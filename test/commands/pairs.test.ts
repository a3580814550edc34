import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { settings } from '../../src/config/settings.ts';
import { exitCodes } from '../../src/errors.ts';
import { runCli, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { textsIn } from '../support/share.ts';

/** How many pairs are drawn, and from which seed: a share of what a night of tests plays. */
const pairs = Number(process.env.DOCMIRROR_TEST_PAIRS ?? 12);
const seed = Number(process.env.DOCMIRROR_TEST_SEED ?? 76);
/** The most time that they take. */
const playMsMax = Number(process.env.DOCMIRROR_TEST_PAIRS_MS ?? 240_000);

const secret = 'a-password-nobody-sees';
const title = 'a title that was left out';

/** Texts of some settings beside those that fit each of its kind; a path is in the folder of the pair. */
const texts: Readonly<Record<string, readonly string[]>> = {
  DOCMIRROR_SHARE: ['docmirror.prom'],
  DOCMIRROR_SHARE_SQL: ['redact.sql'],
  DOCMIRROR_SHARE_WITHOUT: ['sourceDocumentTitle,history'],
  DOCMIRROR_METRICS_FILE: ['docmirror.prom'],
  DOCMIRROR_PING_URL: [`http://127.0.0.1:9/${secret}`],
  DOCMIRROR_PING_SUCCESS_URL: [`http://127.0.0.1:9/${secret}`],
  DOCMIRROR_PING_FAILURE_URL: [`http://127.0.0.1:9/${secret}`],
  HTTPS_PROXY: [`http://user:${secret}%zz@proxy.invalid:8080`],
  HTTP_PROXY: [`http://user:${secret}%zz@proxy.invalid:8080`, `http://user:${secret}@127.0.0.1:9`],
  DOCMIRROR_TOKEN: [secret],
  DOCMIRROR_TOKEN_COMMAND: ['false', 'echo', `echo ${secret}`, 'exit 3'],
  DOCMIRROR_QUERY: ['a=b', 'pageNo=1'],
  DOCMIRROR_DEADLINE: ['1ms', '3s'],
  DOCMIRROR_KEEP_HISTORY: ['1s', '400d'],
  DOCMIRROR_SAVE_EVERY: ['1ms'],
  DOCMIRROR_LABELS: ['tenant=acme'],
  DOCMIRROR_LOG_LEVEL: ['trace', 'silent'],
  DOCMIRROR_CLICKHOUSE_URL: ['http://127.0.0.1:9'],
  DOCMIRROR_SIGNING_KEY_FILE: ['missing.pem'],
  DOCMIRROR_HEADERS_FILE: ['headers'],
};
/** What a text of each kind can be, right or wrong. */
const ofKind = {
  path: [
    '',
    '.',
    'mirror.sqlite',
    'share.sqlite',
    'nowhere/x',
    'odd.txt',
    'new.txt',
    '/dev/null',
    '/dev/full',
  ],
  word: [
    '',
    ' ',
    '0',
    '1',
    '-1',
    '1.5',
    'odd',
    '1s',
    '1h',
    '20%',
    'true',
    'Europe/Zurich',
    '9'.repeat(30),
    'a\nb',
    'ü',
  ],
  secret: ['', secret, ` ${secret} `],
  command: [''],
} as const;
// These would change where the pair is played, or make each of them wait.
const fixed = ['DOCMIRROR_BASE_URL', 'DOCMIRROR_DATABASE', 'DOCMIRROR_GIVE_UP_AFTER', 'DOCMIRROR_WAIT'];
const choices = new Map(
  Object.values(settings)
    .filter(({ variable }) => !fixed.includes(variable))
    .map(({ variable, kind }): [string, readonly string[]] => [
      variable,
      [...ofKind[kind], ...(texts[variable] ?? [])],
    ]),
);
for (const name of ['HTTP_PROXY', 'HTTPS_PROXY']) choices.set(name, texts[name] ?? []);

const backups = 'backup copies --keep 9 --json';
const commands = [
  ...[
    'sync',
    'sync --full',
    'sync --dry-run',
    'sync --rebuild',
    'verify',
    'doctor',
    'status',
    'runs',
    'rejected',
  ],
  ...['backup copy.sqlite', backups, 'backup --restore first.sqlite', 'backup --list copies'],
  ...['share', 'share other.sqlite', 'share other.sqlite --without-history', 'share share.sqlite'],
  ...['changes --since-run 0', 'export --format csv --out out', 'report --out report.html', 'audit receipts'],
  ...['erase document-exports 1', 'accept', 'accept document-exports end_not_shown --why x --anyway'],
  ...['audit checkpoint --unsigned', 'publish clickhouse', 'query SELECT', 'show document-exports DOC-3'],
];
const documented: readonly number[] = Object.values(exitCodes);

const oneSetting = fc
  .constantFrom(...choices.keys())
  .chain(name => fc.tuple(fc.constant(name), fc.constantFrom(...(choices.get(name) ?? ['']))));
const drawn = fc.record({
  chosen: fc.uniqueArray(oneSetting, { minLength: 2, maxLength: 2, selector: ([name]) => name }),
  both: fc.tuple(fc.constantFrom(...commands), fc.constantFrom(...commands)),
});

let scene: Scene;
beforeAll(async () => {
  scene = await setScene({}, { exports: 20 });
  for (const each of scene.service.lists['document-exports'] as Record<string, unknown>[])
    each.sourceDocumentTitle = title;
  await scene.sync();
  expect(await scene.run('backup', join(scene.folder, 'first.sqlite'))).toMatchObject({ code: 0 });
  scene.service.lists['document-exports'].splice(0, 1);
  await scene.sync();
});
afterAll(() => scene[Symbol.asyncDispose]());

/** Plays a pair in a folder of its own, which has a mirror and a backup, and looks at how each ended and what is left. */
async function play({ chosen, both }: { chosen: [string, string][]; both: [string, string] }) {
  await using folder = temporaryFolder();
  const cwd = folder.path;
  const [mirror, share] = ['mirror.sqlite', 'share.sqlite'].map(name => join(cwd, name)) as [string, string];
  copyFileSync(scene.database, mirror);
  for (const end of ['', '.json'])
    copyFileSync(join(scene.folder, `first.sqlite${end}`), join(cwd, `first.sqlite${end}`));
  writeFileSync(join(cwd, 'odd.txt'), `${secret}\n\u0000`);
  writeFileSync(join(cwd, 'headers'), `X-Key: ${secret}\n`, { mode: 0o600 });
  writeFileSync(join(cwd, 'redact.sql'), 'UPDATE document_exports SET source_document_title = NULL');
  const own = { DOCMIRROR_DATABASE: mirror, DOCMIRROR_GIVE_UP_AFTER: '1s', DOCMIRROR_WAIT: '20s' };
  const base = { ...scene.env, ...own, DOCMIRROR_SHARE_WITHOUT: 'sourceDocumentTitle' };
  const env: Record<string, string> = { ...base, ...Object.fromEntries(chosen) };
  const begunAtMs = performance.now();
  const ends = await Promise.all(both.map(words => runCli(words.split(' '), { env, cwd })));
  const drawnText = JSON.stringify({ chosen, both });
  for (const { code, stdout, stderr } of ends) {
    expect(documented, `${drawnText}\n${stderr}`).toContain(code);
    expect(stdout + stderr, drawnText).not.toContain(secret);
    expect(stdout + stderr, drawnText).not.toContain('[internal]');
  }
  expect(performance.now() - begunAtMs, drawnText).toBeLessThan(30_000);
  const made = ends.filter(({ code }, at) => code === 0 && both[at] === backups);
  for (const { stdout } of made) expect(existsSync(join(cwd, JSON.parse(stdout).path)), drawnText).toBe(true);
  expect(new Set(made.map(({ stdout }) => JSON.parse(stdout).path)).size, drawnText).toBe(made.length);
  const sound = await runCli(['verify'], { env: base, cwd });
  expect(sound, `${drawnText}\n${sound.stdout}${sound.stderr}`).toMatchObject({ code: 0 });
  const lacks = env.DOCMIRROR_SHARE_WITHOUT?.includes('sourceDocumentTitle');
  const isOfSettings = env.DOCMIRROR_SHARE === 'share.sqlite' && lacks;
  if (isOfSettings && readable(share)) expect(textsIn(share, [title]), drawnText).toEqual([]);
}

test(
  'whatever two settings and two commands at once are drawn, each ends in time with an exit code of the docs, shows no secret, and loses nothing',
  async () => {
    const begunAtMs = performance.now();
    let played = 0;
    const failures: string[] = [];
    for (const pair of fc.sample(drawn, { numRuns: pairs, seed })) {
      if (performance.now() - begunAtMs > playMsMax) break;
      await play(pair).catch((error: Error) => failures.push(error.message.slice(0, 2_000)));
      played++;
    }
    if (pairs > 100) console.log(`${played} pairs of the seed ${seed}`);
    expect(failures).toEqual([]);
  },
  playMsMax + 60_000,
);

function readable(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}
