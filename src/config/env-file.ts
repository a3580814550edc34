import { statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';
import type { Environment } from './resolve.ts';
import { readSmallFile } from './small-file.ts';

/** Far more than settings take, in bytes. */
const bytesMax = 256 * 1024;

/**
 * The environment with the lines `NAME=value` of a file below it: what the environment says goes before what the file says, and
 * an empty variable says nothing. Quotes are understood as Node's own `--env-file` does.
 *
 * @throws UsageError that names the file where it can't be read.
 */
export async function withEnvFile(path: string, environment: Environment): Promise<Environment> {
  if (isPipe(path)) {
    throw new UsageError(
      `--env-file: ${path} is a pipe, which Node itself has emptied by now. Name a file that can be read twice.`,
    );
  }
  const file = await readSmallFile('--env-file: ', path, bytesMax);
  const text = file.replace(/^\uFEFF/, '');
  assertLines(path, text);
  const inFile = parseEnv(text);
  const said = Object.entries(environment).filter(([, value]) => value !== undefined && value.trim() !== '');
  // Node has read the file, too: what it says stands in the environment by now.
  const others = new Set(said.flatMap(([name, value]) => (inFile[name] === value ? [] : [name])));
  const isSettled = (name: string) =>
    alternatives.some(names => names.includes(name) && names.some(each => others.has(each)));
  const all = Object.entries({ ...inFile, ...Object.fromEntries(said) });
  return Object.fromEntries(all.filter(([name]) => others.has(name) || !isSettled(name)));
}

function isPipe(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFIFO() === true || stat?.isSocket() === true;
}

/** Variables that say one thing in several ways: where the environment says one of them, the file's other ones count for nothing. */
const alternatives = [
  ['DOCMIRROR_TOKEN', 'DOCMIRROR_TOKEN_FILE', 'DOCMIRROR_TOKEN_COMMAND'],
  ['DOCMIRROR_CLICKHOUSE_PASSWORD', 'DOCMIRROR_CLICKHOUSE_PASSWORD_FILE'],
];

/**
 * Node's own reader leaves out what it does not understand, and ends a value at a #, which to systemd and to Docker is a part of it: a
 * setting or half a token would be missed, or another file be used.
 */
function assertLines(path: string, text: string): void {
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] as string).trim();
    if (line === '' || line.startsWith('#')) continue;
    const where = `--env-file: line ${at + 1} of ${path}`;
    const value = /^(?:export\s+)?[A-Za-z_]\w*\s*=\s*(.*)$/.exec(line)?.[1];
    if (value === undefined) throw new UsageError(`${where} is not of the form NAME=value.`);
    const quote = /^["'`]/.exec(value)?.[0];
    const end = quote === undefined ? null : endOfQuotes(lines, at, quote);
    if (quote !== undefined && end === null) {
      throw new UsageError(
        `${where} has a quote that never ends. Close it; a value that begins with one goes into quotes of another kind.`,
      );
    }
    if (end === null && value.includes('#')) {
      throw new UsageError(
        `${where} has a # in its value, which would end it. Put the value in quotes, and a comment on a line of its own.`,
      );
    }
    if (end !== null && !/^\s*(#|$)/.test(end.rest))
      throw new UsageError(`${where} has something behind its quotes, which would be left out.`);
    at = end?.at ?? at;
  }
}

/** Where a value in quotes ends, which may go over several lines, and what stands behind it; null where it never does. */
function endOfQuotes(
  lines: readonly string[],
  from: number,
  quote: string,
): { readonly at: number; readonly rest: string } | null {
  const opened = (lines[from] ?? '').indexOf(quote) + 1;
  for (const [at, line] of lines.entries()) {
    const closed = at < from ? -1 : line.indexOf(quote, at === from ? opened : 0);
    if (closed >= 0) return { at, rest: line.slice(closed + 1) };
  }
  return null;
}
