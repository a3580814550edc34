import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exitCodes } from '../../src/errors.ts';
import { runCli, temporaryFolder } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { textsIn } from '../support/share.ts';

/** How many pairs are drawn, and from which seed: a share of what a night of tests plays. */
const pairs = Number(process.env.DOCMIRROR_TEST_PAIRS ?? 12);
const seed = Number(process.env.DOCMIRROR_TEST_SEED ?? 76);

const secret = 'a-password-nobody-sees';
const title = 'a title that was left out';

/** Settings with texts that are right, odd, or wrong; a path is in the folder of the pair. */
const texts: Readonly<Record<string, readonly string[]>> = {
  DOCMIRROR_SHARE: ['share.sqlite', 'mirror.sqlite', 'nowhere/share.sqlite', 'docmirror.prom'],
  DOCMIRROR_SHARE_SQL: ['missing.sql'],
  DOCMIRROR_METRICS_FILE: ['docmirror.prom', 'mirror.sqlite', 'nowhere/x.prom'],
  DOCMIRROR_PING_URL: [`http://127.0.0.1:9/${secret}`],
  HTTPS_PROXY: [`http://user:${secret}%zz@proxy.invalid:8080`],
  HTTP_PROXY: [`http://user:${secret}%zz@proxy.invalid:8080`, `http://user:${secret}@127.0.0.1:9`],
  DOCMIRROR_DEADLINE: ['1ms', '3s'],
  DOCMIRROR_WAIT: ['0', '2s'],
  DOCMIRROR_KEEP_HISTORY: ['1s', '400d'],
  DOCMIRROR_PAGE_SIZE: ['1', 'auto'],
  DOCMIRROR_MAX_PAGES: ['1'],
  DOCMIRROR_SAVE_EVERY: ['1ms'],
  DOCMIRROR_LABELS: ['tenant=acme', 'odd'],
  DOCMIRROR_TIMEOUT_MS: ['1', '1000'],
  DOCMIRROR_TOKEN_COMMAND: ['false', 'echo', `echo ${secret}`],
  DOCMIRROR_LOG_LEVEL: ['trace', 'silent'],
};
const commands = [
  'sync',
  'verify',
  'backup copy.sqlite',
  'backup copies --keep 2',
  'share other.sqlite',
  'status',
  'sync --full',
];
const documented: readonly number[] = Object.values(exitCodes);

const drawn = fc.record({
  settings: fc.uniqueArray(fc.constantFrom(...Object.keys(texts)), { minLength: 2, maxLength: 2 }),
  which: fc.tuple(fc.nat(), fc.nat()),
  both: fc.tuple(fc.constantFrom(...commands), fc.constantFrom(...commands)),
});

test('whatever two settings and two commands at once are drawn, each ends in time with an exit code of the docs, and shows no secret', async () => {
  await using scene = await setScene({}, { exports: 20 });
  for (const each of scene.service.lists['document-exports'] as Record<string, unknown>[])
    each.sourceDocumentTitle = title;
  for (const { settings, which, both } of fc.sample(drawn, { numRuns: pairs, seed })) {
    await using folder = temporaryFolder();
    const cwd = folder.path;
    const chosen = Object.fromEntries(
      settings.map((name, at) => [name, texts[name]?.[(which[at] ?? 0) % (texts[name]?.length ?? 1)] ?? '']),
    );
    const env = {
      ...scene.env,
      DOCMIRROR_DATABASE: join(cwd, 'mirror.sqlite'),
      DOCMIRROR_GIVE_UP_AFTER: '1s',
      DOCMIRROR_SHARE_WITHOUT: 'sourceDocumentTitle',
      ...chosen,
    };
    const begunAtMs = performance.now();
    const ends = await Promise.all(both.map(words => runCli(words.split(' '), { env, cwd })));
    const drawnText = JSON.stringify({ chosen, both });
    for (const { code, stdout, stderr } of ends) {
      expect(documented, `${drawnText}\n${stderr}`).toContain(code);
      expect(stdout + stderr, drawnText).not.toContain(secret);
      expect(stdout + stderr, drawnText).not.toContain('[internal]');
    }
    expect(performance.now() - begunAtMs, drawnText).toBeLessThan(30_000);
    if (chosen.DOCMIRROR_SHARE === 'share.sqlite' && readable(join(cwd, 'share.sqlite')))
      expect(textsIn(join(cwd, 'share.sqlite'), [title]), drawnText).toEqual([]);
  }
}, 300_000);

function readable(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}
