import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { withEnvFile } from '../config/env-file.ts';
import { resolveConfig } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import { candidates, splitWords } from './completion/candidates.ts';
import { scripts } from './completion/scripts.ts';
import type { CommandContext } from './context.ts';
import { shells } from './table/start.ts';

/** The newest runs that are offered; more would only be scrolled past. */
const runsMax = 50;

/**
 * `docmirror completion`; its arguments are in the table of commands. The script that it prints calls it with `words` in
 * place of the shell. It answers with the words that fit at the end, a line each. The first line is `files`, `folders` or empty.
 */
export async function completion(command: Command, context: CommandContext): Promise<void> {
  const [shell = '', ...words] = command.args;
  if (shell === 'words') {
    const { offered, values } = candidates(words);
    const runs = offered === 'runs' ? await runIds(words, context) : [];
    const place = offered === 'files' || offered === 'folders' ? offered : '';
    context.stdout.write([place, ...values, ...runs].map(line => `${line}\n`).join(''));
    return;
  }
  const known = shells.find(name => name === shell);
  if (known === undefined || words.length > 0) {
    throw new UsageError(`completion: name one shell, ${shells.join(', ')}.`);
  }
  context.stdout.write(scripts[known]);
}

/** The newest runs of the mirror that the words, their file of settings or the environment name; where it can't be read there is none to offer. */
async function runIds(given: readonly string[], { environment }: CommandContext): Promise<string[]> {
  try {
    const words = splitWords(given);
    const valueAfter = (flag: string) => words[words.lastIndexOf(flag) + 1 || words.length];
    const envFile = valueAfter('--env-file');
    const known = envFile === undefined ? environment : (await withEnvFile(envFile, environment)).environment;
    const { database } = resolveConfig({ database: valueAfter('--database') }, known);
    if (!existsSync(database)) return [];
    const { RunReader } = await import('../store/read/run-reader.ts');
    using reader = new RunReader(database);
    return reader.runs(runsMax).map(({ id }) => String(id));
  } catch {
    return [];
  }
}
