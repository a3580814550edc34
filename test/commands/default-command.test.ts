import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runCli, temporaryFolder } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

describe('docmirror alone', () => {
  test('says without a mirror what a run needs, and what comes next', async () => {
    await using folder = temporaryFolder();
    const { code, stdout, stderr } = await runCli([], { cwd: folder.path, env: {} });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('docmirror.sqlite does not exist.\nA run needs DOCMIRROR_BASE_URL');
    expect(stdout).toContain('"docmirror sync" makes the mirror');
  });

  test('takes the mirror and a file of settings as flags', async () => {
    await using scene = await setScene();
    await scene.sync();
    const file = `${scene.folder}/settings.env`;
    writeFileSync(file, `DOCMIRROR_DATABASE=${scene.database}\nDOCMIRROR_TOKEN=t\n`);
    const head = `${scene.database} mirrors ${scene.service.url}\n`;
    for (const args of [['--database', scene.database], [`--env-file=${file}`]]) {
      const { code, stdout } = await runCli(args, { cwd: scene.folder });
      expect({ code, head: stdout.slice(0, head.length) }).toEqual({ code: 0, head });
    }
    const other = ['--env-file', file, '--database', `${scene.folder}/other.sqlite`];
    const { stdout } = await runCli(other);
    expect(stdout).toContain('other.sqlite does not exist.\nA run needs');
  });

  test('shows the state of a mirror in five lines', async () => {
    await using scene = await setScene();
    await scene.sync();
    const { code, stdout, stderr } = await scene.run();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[0]).toBe(`${scene.database} mirrors ${scene.service.url}`);
    expect(lines.slice(2).map(line => line.split(/ {2,}/).slice(0, 3))).toEqual([
      ['document-exports', '130', 'complete: proven'],
      ['collections', '7', 'complete: proven'],
      ['webhooks', '3', 'complete: proven'],
    ]);
  });
});
