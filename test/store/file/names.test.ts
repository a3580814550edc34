import { expect, test } from 'vitest';
import { type CliResult, runCli } from '../../support/run-cli.ts';
import { setScene } from '../../support/scene.ts';

/** One line that names the setting and the path, and exit code 2; doctor says it among its checks. */
function expectRefused({ code, stdout, stderr }: CliResult, setting: string, path: string, words: string) {
  const isDoctor = words.startsWith('doctor');
  const [said, other] = isDoctor ? [stdout, stderr] : [stderr, stdout];
  expect({ words, code, other, said }).toEqual({
    words,
    code: 2,
    other: '',
    said: isDoctor ? expect.anything() : expect.stringMatching(/^docmirror: [^\n]+\n$/),
  });
  expect(said, words).toContain(`${setting}: `);
  expect(said, words).toContain(path);
}

test.each(['export --out', 'export --changes --out', 'backup --keep 2'])(
  '%s ends in words where the system takes no folder and says that one is missing',
  async words => {
    await using scene = await setScene();
    await scene.sync();
    for (const path of ['/proc/docmirror', '/proc/docmirror/below/it']) {
      const result = await runCli([...words.split(' '), path], { env: scene.env, timeoutMs: 15_000 });
      expectRefused(result, words.startsWith('backup') ? 'DEST' : '--out', path, words);
    }
  },
);
