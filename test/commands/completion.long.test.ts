import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { candidates } from '../../src/commands/completion/candidates.ts';
import { commandTable } from '../../src/commands/table/table.ts';
import { resolveConfig } from '../../src/config/resolve.ts';
import { runCli } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { pathWithDocmirror } from './installed.ts';

describe('the word at the cursor', () => {
  const values = (...words: string[]) => candidates(words).values;

  test('first is a command, or what every program has', () => {
    const heads = [...new Set(commandTable.map(({ name }) => name.split(' ')[0]))];
    expect(values('')).toEqual([...heads, 'help', '--database', '--env-file', '--help', '--version']);
    expect(candidates(['--database', '']).offered).toBe('files');
    expect(values('help', '')).toEqual(heads);
    expect(values('help', 'sync', '')).toEqual([]);
    expect(values('re')).toEqual(['rejected', 'report']);
    expect(values('publish', '')).toEqual(['clickhouse']);
    expect(values('unknown', '')).toEqual([]);
  });

  test('after a command is each of its flags, those of its settings with them', () => {
    expect([...values('status', '--')].sort()).toEqual([
      '--database',
      '--env-file',
      '--format',
      '--help',
      '--json',
      '--labels',
      '--log-level',
      '--max-age',
      '--strict',
    ]);
    expect(values('publish', 'clickhouse', '--pr')).toEqual(['--print-ddl']);
    expect(values('publish', 'clickhouse', '--ten')).toEqual(['--tenant']);
  });

  test('after a flag is what it takes', () => {
    expect(values('sync', '--resource', '')).toEqual(['document-exports', 'collections', 'webhooks']);
    expect(values('changes', '--resource', 'con')).toEqual(['connections']);
    expect(values('export', '--format', '')).toEqual(['ndjson', 'csv', 'parquet']);
    expect(candidates(['changes', '--since-run', '']).offered).toBe('runs');
    expect(candidates(['export', '--out', '']).offered).toBe('folders');
    expect(candidates(['status', '--database', '']).offered).toBe('files');
    expect(candidates(['runs', '--limit', ''])).toEqual({ offered: null, values: [] });
  });

  test('after --log-level is each level that is understood', () => {
    const levels = values('status', '--log-level', '');
    expect(levels).toHaveLength(7);
    for (const logLevel of levels) expect(resolveConfig({ logLevel }, {})).toMatchObject({ logLevel });
  });

  test('after a flag and an equals sign is what it takes, without the flag', () => {
    expect(values('sync', '--resource=we')).toEqual(['webhooks']);
    expect(values('export', '--format=p')).toEqual(['parquet']);
    expect(candidates(['changes', '--database=x.sqlite', '--since-run=']).offered).toBe('runs');
    expect(candidates(['backup', '--keep=14', '']).offered).toBe('files');
  });

  test('is an argument if the command takes one, and no second one', () => {
    expect(candidates(['backup', '']).offered).toBe('files');
    expect(candidates(['backup', '--keep', '14', '']).offered).toBe('files');
    expect(candidates(['backup', 'copy.sqlite', '']).offered).toBeNull();
    expect(values('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(values('show', '')).toEqual(['document-exports', 'collections', 'webhooks', 'connections']);
    expect(values('show', '--json', 'w')).toEqual(['webhooks']);
    expect(values('show', 'webhooks', '')).toEqual([]);
  });
});

describe('docmirror completion', () => {
  test.each([[[]], [['tcsh']], [['bash', 'more']]])('refuses %j, and names the shells', async words => {
    const { code, stdout, stderr } = await runCli(['completion', ...words]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/bash|SHELL/);
  });

  test('offers no run, and prints nothing, if there is no mirror or it can not be read', async () => {
    for (const database of ['/nowhere/mirror.sqlite', import.meta.filename]) {
      const env = { DOCMIRROR_DATABASE: database };
      const result = await runCli(['completion', 'words', '--', 'changes', '--since-run', ''], { env });
      expect(result).toMatchObject({ code: 0, stdout: '\n', stderr: '' });
    }
  });
});

/** How each shell is asked what it would offer for a line: it prints that, one a line. */
const shells = {
  bash: (words: readonly string[]) => [
    'bash',
    '--norc',
    '-c',
    `eval "$(docmirror completion bash)"
     COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
     compopt() { :; }
     $(complete -p docmirror | sed 's/.*-F \\([^ ]*\\).*/\\1/')
     printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
    ...splitAtEquals(words),
  ],
  // The test catches what zsh would add, because the line editor itself runs on a terminal only.
  zsh: (words: readonly string[]) => [
    'zsh',
    '-f',
    '-c',
    `autoload -Uz compinit; compinit -D -u
     eval "$(docmirror completion zsh)"
     compadd() { shift; print -rl -- "$@" }
     compset() { words[CURRENT]=\${words[CURRENT]#--*=} }
     _files() { if [[ $1 == -/ ]]; then print -rl -- \${words[CURRENT]}*(N/); else print -rl -- \${words[CURRENT]}*(N); fi }
     words=("$@") CURRENT=$#
     \${_comps[docmirror]}`,
    'zsh',
    ...words,
  ],
  fish: (words: readonly string[]) => [
    'fish',
    '--no-config',
    '-c',
    `docmirror completion fish | source; complete -C '${words.join(' ')}' | string replace -r '\\t.*' ''`,
  ],
};

/** As bash gives them: it ends a word before and after each equals sign. */
const splitAtEquals = (words: readonly string[]) => words.flatMap(word => word.split(/(?<==)|(?==)/));

describe.each(Object.entries(shells))('in %s', (shell, lineFor) => {
  let scene: Scene;
  const isThere = spawnSync(shell, ['-c', 'true']).status === 0;

  beforeAll(async () => {
    if (!isThere) return;
    scene = await setScene({}, { exports: 3 });
    await scene.sync();
    await scene.sync();
    mkdirSync(join(scene.folder, 'lists'));
    writeFileSync(join(scene.folder, 'list.txt'), '');
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  function offered(...words: string[]): string[] {
    return offeredWith({ DOCMIRROR_DATABASE: scene.database }, ...words);
  }

  function offeredWith(environment: Record<string, string>, ...words: string[]): string[] {
    const [program = '', ...args] = lineFor(['docmirror', ...words]);
    const env = { PATH: pathWithDocmirror(scene.folder), HOME: scene.folder, ...environment };
    const result = spawnSync(program, args, { cwd: scene.folder, env, encoding: 'utf8', timeout: 30_000 });
    expect(result.stderr).toBe('');
    return (
      result.stdout
        .split('\n')
        .filter(line => line !== '')
        // fish gives the whole word, the others what comes behind the equals sign.
        .map(name => name.replace(/\/$/, '').replace(/^--[\w-]+=/, ''))
        .sort()
    );
  }

  test.skipIf(!isThere)('Tab completes commands, flags, lists and runs of the mirror', () => {
    expect(offered('ver')).toEqual(['verify']);
    expect(offered('sync', '--dr')).toEqual(['--dry-run']);
    expect(offered('sync', '--resource', '')).toEqual(['collections', 'document-exports', 'webhooks']);
    expect(offered('changes', '--since-run', '')).toEqual(['1', '2']);
    expect(offered('publish', '')).toEqual(['clickhouse']);
    expect(offered('show', 'w')).toEqual(['webhooks']);
  });

  test.skipIf(!isThere)('Tab completes the text behind an equals sign', () => {
    expect(offered('sync', '--resource=we')).toEqual(['webhooks']);
    expect(offered('export', '--format=')).toEqual(['csv', 'ndjson', 'parquet']);
    expect(offered('backup', '--check=li')).toEqual(['list.txt', 'lists']);
    expect(offered('export', '--out=li')).toEqual(['lists']);
    expect(offered('changes', `--database=${join(scene.folder, 'other.sqlite')}`, '--since-run', '')).toEqual(
      [],
    );
    expect(offered('changes', `--database=${scene.database}`, '--since-run=')).toEqual(['1', '2']);
  });

  test.skipIf(!isThere)('Tab completes the runs of a mirror that a file of settings names', () => {
    writeFileSync(join(scene.folder, 'settings.env'), `DOCMIRROR_DATABASE=${scene.database}\n`);
    const words = ['changes', '--env-file', 'settings.env', '--since-run', ''];
    expect(offeredWith({}, ...words)).toEqual(['1', '2']);
    expect(offeredWith({}, ...words.filter(word => !/env/.test(word)))).toEqual([]);
  });

  test.skipIf(!isThere)('Tab completes names of files and folders for a flag that takes one', () => {
    expect(offered('backup', '--check', 'li')).toEqual(['list.txt', 'lists']);
    expect(offered('export', '--out', 'li')).toEqual(['lists']);
  });
});
