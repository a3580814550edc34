import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';
import type { Environment } from './resolve.ts';
import { readSmallFile } from './small-file.ts';

/** Far more than settings take, in bytes. */
const bytesMax = 256 * 1024;

/**
 * The environment with the lines `NAME=value` of a file below it: what the environment says goes before what the file says, and
 * an empty variable says nothing. Comments and quotes are understood as Node's own `--env-file` does.
 *
 * @throws UsageError that names the file where it can't be read.
 */
export async function withEnvFile(path: string, environment: Environment): Promise<Environment> {
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

/** Variables that say one thing in several ways: where the environment says one of them, the file's other ones count for nothing. */
const alternatives = [
  ['DOCMIRROR_TOKEN', 'DOCMIRROR_TOKEN_FILE', 'DOCMIRROR_TOKEN_COMMAND'],
  ['DOCMIRROR_CLICKHOUSE_PASSWORD', 'DOCMIRROR_CLICKHOUSE_PASSWORD_FILE'],
];

/** Node's own reader leaves out what it does not understand, and ends a value at a #: a setting or half a token would be missed. */
function assertLines(path: string, text: string): void {
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] as string).trim();
    if (line === '' || line.startsWith('#')) continue;
    const where = `--env-file: line ${at + 1} of ${path}`;
    const value = /^(?:export\s+)?[A-Za-z_]\w*\s*=\s*(.*)$/.exec(line)?.[1];
    if (value === undefined) throw new UsageError(`${where} is not of the form NAME=value.`);
    const quote = /^["'`]/.exec(value)?.[0];
    if (quote !== undefined) at = lineOfEnd(lines, at, quote);
    else if (/^[^#]*[^\s#]#/.test(value)) {
      throw new UsageError(`${where} has a # in its value, which would end it. Put the value in quotes.`);
    }
  }
}

/** The line on which a value in quotes ends: it may go over several. */
function lineOfEnd(lines: readonly string[], from: number, quote: string): number {
  const isClosed = (line: string | undefined, opened: number) => (line ?? '').split(quote).length > opened;
  if (isClosed(lines[from], 2)) return from;
  const end = lines.findIndex((line, at) => at > from && isClosed(line, 1));
  return end < 0 ? from : end;
}
