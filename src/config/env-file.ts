import { statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';
import type { Environment } from './resolve.ts';
import { readSmallFile } from './small-file.ts';

/** Far more than settings need, in bytes. */
const bytesMax = 256 * 1024;

/** The environment together with a file of settings, and what came from the file. */
export interface SettingsWithFile {
  readonly environment: Environment;
  /** The variables that the file sets. */
  readonly inEnvFile: ReadonlySet<string>;
}

/**
 * The environment, overridden by the lines `NAME=value` of a file. An empty variable counts as not set, in the file and in the
 * environment. Quotes work as in Node's own `--env-file`.
 *
 * @throws UsageError that names the file if it can't be read.
 */
export async function withEnvFile(path: string, environment: Environment): Promise<SettingsWithFile> {
  const file = readSmallFile('--env-file: ', path, bytesMax);
  // Otherwise the settings of the environment would count, and those might belong to another tenant.
  if (file === '' && isPipe(path)) {
    throw new UsageError(
      `--env-file: ${path} is a pipe that was empty. Either what writes to it failed, or Node.js has read it: start docmirror with "node -- …".`,
    );
  }
  const text = file.replace(/^\uFEFF/, '');
  assertLines(path, text);
  const lines = Object.entries(parseEnv(text));
  const said = lines.filter(([, value]) => value?.trim() !== '');
  const inEnvFile = new Set(said.map(([name]) => name));
  const isSettled = (name: string) =>
    alternatives.some(names => names.includes(name) && names.some(each => inEnvFile.has(each)));
  const others = Object.entries(environment).filter(([name]) => !isSettled(name));
  return { inEnvFile, environment: Object.fromEntries([...lines, ...others, ...said]) };
}

function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

/** Groups of variables that set the same thing. If the file sets one of a group, the environment's others are ignored. */
const alternatives = [
  ['DOCMIRROR_TOKEN', 'DOCMIRROR_TOKEN_FILE', 'DOCMIRROR_TOKEN_COMMAND'],
  ['DOCMIRROR_CLICKHOUSE_PASSWORD', 'DOCMIRROR_CLICKHOUSE_PASSWORD_FILE'],
  ['https_proxy', 'HTTPS_PROXY'],
  ['http_proxy', 'HTTP_PROXY'],
  ['no_proxy', 'NO_PROXY'],
];

/**
 * Refuses lines that Node's own reader skips or cuts. It skips lines that it can't parse, and it ends a value at a #, which systemd
 * and Docker keep. A setting or half a token would be lost, or another file would be used.
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

/** Finds the end of a value in quotes, which can span several lines, and the text after it; null if it never ends. */
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
