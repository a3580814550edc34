import { statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';
import type { Environment } from './resolve.ts';
import { readSmallFile } from './small-file.ts';

/** Far more than settings take, in bytes. */
const bytesMax = 256 * 1024;

/** The environment together with a file of settings, and what came from the file. */
export interface SettingsWithFile {
  readonly environment: Environment;
  /** The variables that the file sets. */
  readonly inFile: ReadonlySet<string>;
}

/**
 * The environment with the lines `NAME=value` of a file above it: what the file says counts, and an empty variable says nothing, in
 * the file as well as in the environment. Quotes are understood as Node's own `--env-file` does.
 *
 * @throws UsageError that names the file if it can't be read.
 */
export async function withEnvFile(path: string, environment: Environment): Promise<SettingsWithFile> {
  const file = await readSmallFile('--env-file: ', path, bytesMax);
  // The settings of the environment would count instead, which may be those of another tenant.
  if (file === '' && isPipe(path)) {
    throw new UsageError(
      `--env-file: ${path} is a pipe that was empty. Either what writes to it failed, or Node.js has read it: start docmirror with "node -- …".`,
    );
  }
  const text = file.replace(/^\uFEFF/, '');
  assertLines(path, text);
  const lines = Object.entries(parseEnv(text));
  const said = lines.filter(([, value]) => value?.trim() !== '');
  const inFile = new Set(said.map(([name]) => name));
  const isSettled = (name: string) =>
    alternatives.some(names => names.includes(name) && names.some(each => inFile.has(each)));
  const others = Object.entries(environment).filter(([name]) => !isSettled(name));
  return { inFile, environment: Object.fromEntries([...lines, ...others, ...said]) };
}

function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

/** Variables that say one thing in several ways: if the file says one of them, the environment's other ones count for nothing. */
const alternatives = [
  ['DOCMIRROR_TOKEN', 'DOCMIRROR_TOKEN_FILE', 'DOCMIRROR_TOKEN_COMMAND'],
  ['DOCMIRROR_CLICKHOUSE_PASSWORD', 'DOCMIRROR_CLICKHOUSE_PASSWORD_FILE'],
  ['https_proxy', 'HTTPS_PROXY'],
  ['http_proxy', 'HTTP_PROXY'],
  ['no_proxy', 'NO_PROXY'],
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
      throw new UsageError(`${where} has something after its quotes, which would be ignored.`);
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
