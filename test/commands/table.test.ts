import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { flagsOf } from '../../src/commands/command.ts';
import { commandHelp, loadCommands } from '../../src/commands/index.ts';
import { programPath } from '../support/program.ts';
import { runCli, temporaryFolder } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const all = await loadCommands();

describe('what a command line says is shown as an escape where it could steer a terminal', () => {
  test.each([
    [['status', '--a\u001b[31mb']],
    [['show', '\u001b[31m', '1']],
    [['stat\u009b31m']],
    [['--database', 'x\u001b[31m']],
    [['verify', '--database', 'x\u009b31m']],
  ])('%j', async args => {
    await using folder = temporaryFolder();
    const { stdout, stderr } = await runCli(args, { cwd: folder.path });
    expect(stdout + stderr).toMatch(/\\u00[19]b/);
    expect(stdout + stderr).not.toMatch(/(?!\n)\p{Cc}|\p{Bidi_Control}/u);
  });

  test('and so is the path of what was written', async () => {
    await using scene = await setScene({}, { exports: 1 });
    await scene.sync();
    const at = (name: string) => join(scene.folder, `${name}\u001b[31m`);
    const failed = await scene.run('report', '--out', join(scene.folder, 'nowhere', '\u009b31m\u202e'));
    expect(failed.stderr).toContain('\\u009b31m\\u202e');
    for (const args of [
      ['report', '--out', at('r')],
      ['backup', at('b')],
      ['backup', '--check', at('b')],
    ]) {
      const { code, stdout } = await scene.run(...args);
      expect(code).toBe(0);
      expect(stdout).toContain('\\u001b[31m');
      expect(stdout).not.toContain('\u001b');
    }
  });
});

test.each([['--help'], ['--version'], ['status']])(
  '%s says in a line that standard output is full',
  async command => {
    await using scene = await setScene();
    await scene.sync();
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, ['--', programPath, command], {
      stdio: ['ignore', full, 'pipe'],
      env: { ...process.env, ...scene.env },
      encoding: 'utf8',
    });
    closeSync(full);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "docmirror: standard output can't be written: the disk is full [output_failed]\n",
    });
  },
);

test('a command after -- is that command', async () => {
  await using folder = temporaryFolder();
  expect(await runCli(['--', 'status'], { cwd: folder.path })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no mirror at'),
  });
});

describe('the help', () => {
  test.each(all)('of $name says what each of its flags and arguments is for, and of no others', found => {
    const { arguments: args = {} } = found.command;
    const names = [...flagsOf(found.command).keys(), ...Object.values(args).map(each => each.valueName)];
    const parts = [...flagsOf(found.command).values(), ...Object.values(args)];
    expect(parts.filter(({ help }) => help === '')).toEqual([]);
    expect(Object.keys(found.words ?? {}).filter(name => !names.includes(name))).toEqual([]);
  });

  test.each(all)('of $name goes into a narrow terminal', ({ command, ...found }) => {
    // Text that is to be typed is not broken.
    const lines = (width: number) =>
      commandHelp(found, command, width)
        .split('\n')
        .filter(line => !/^ {2}\$ |^ +\[\w+\]$/.test(line));
    expect(lines(60).filter(line => line.length > 60)).toEqual([]);
    const words = (width: number) => commandHelp(found, command, width).split(/\s+/);
    expect(words(60)).toEqual(words(Number.POSITIVE_INFINITY));
  });
});

/** The words that a shell would give to docmirror, up to what it keeps to itself. */
function wordsOf(line: string): string[] {
  const typed = line.slice(line.indexOf('docmirror ') + 'docmirror '.length);
  const words = [...typed.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)];
  const end = words.findIndex(([word]) => /^[|>&;]/.test(word));
  return words.slice(0, end < 0 ? words.length : end).map(([, one, two, three]) => one ?? two ?? three ?? '');
}

// The demo takes no settings, and shells run completion: they have tests of their own.
test.each(all.filter(({ name }) => !['demo', 'completion'].includes(name)))(
  'the examples of $name are command lines that are understood',
  async ({ examples }) => {
    await using folder = temporaryFolder();
    // A setting that there is not ends each line that is understood, before it does anything.
    const env = { DOCMIRROR_NONE: 'x' };
    for (const line of Object.keys(examples)) {
      const { stderr } = await runCli(wordsOf(line), { cwd: folder.path, env });
      expect(stderr, line).toMatch(/DOCMIRROR_NONE is not a setting|^$/);
    }
  },
);
