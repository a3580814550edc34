import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, test } from 'vitest';
import { docmirrorShell } from '../support/docmirror-shell.ts';
import { temporaryFolder } from '../support/run-cli.ts';

/** How each shell is asked what it would offer for a line: it prints that, one a line. */
const shells = {
  bash: (words: readonly string[]) => [
    'bash',
    '--norc',
    '-c',
    `set -u; eval "$(docmirror completion bash)"
     COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
     _docmirror
     printf '%s\\n' "\${COMPREPLY[@]-}"`,
    'bash',
    ...words,
  ],
  // The test catches what zsh would add, because the line editor itself runs on a terminal only.
  zsh: (words: readonly string[]) => [
    'zsh',
    '-f',
    '-c',
    `autoload -Uz compinit; compinit -D -u
     eval "$(docmirror completion zsh)"
     compadd() { shift; local matching=(\${(M)@:#\${words[CURRENT]}*}); print -rl -- $matching; (( $#matching )) }
     _files() { :; }
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

describe.each(Object.entries(shells))('in %s', (shell, lineFor) => {
  const folder = temporaryFolder();
  afterAll(() => folder[Symbol.asyncDispose]());
  docmirrorShell(folder.path);
  const env = { PATH: `${folder.path}/bin:${process.env.PATH}`, HOME: folder.path };
  const isThere = spawnSync(shell, ['-c', 'true']).status === 0;

  function offered(...words: string[]): string[] {
    const [program = '', ...args] = lineFor(['docmirror', ...words]);
    const result = spawnSync(program, args, { cwd: folder.path, env, encoding: 'utf8', timeout: 30_000 });
    expect(result.stderr).toBe('');
    return result.stdout.split('\n').filter(line => line !== '');
  }

  test.skipIf(!isThere)('Tab completes commands and flags', () => {
    expect(offered('ver')).toEqual(['verify']);
    expect(offered('help', 'ver')).toEqual(['verify']);
    expect(offered('publish', '')).toEqual(['clickhouse']);
    expect(offered('completion', 'z')).toEqual(['zsh']);
    expect(offered('nope', '')).not.toContain('sync');
    expect(offered('sync', '--dr')).toEqual(['--dry-run']);
    expect(offered('sync', '--full', '--database', 'x', '--dr')).toEqual(['--dry-run']);
    expect(offered('publish', 'clickhouse', '--ten')).toEqual(['--tenant']);
    expect(offered('audit', 'checkpoint', '--uns')).toEqual(['--unsigned']);
    expect(offered('--data')).toEqual(['--database']);
  });
});
