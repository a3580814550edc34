import { existsSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';
import type { Environment } from './resolve.ts';
import { settings } from './settings.ts';
import { isPlainlyPath, readSmallFile } from './small-file.ts';

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
 * environment. Quotes work as in Node's own `--env-file`, and relative paths go by the file's folder.
 *
 * @throws UsageError that names the file if it can't be read.
 */
export async function withEnvFile(path: string, environment: Environment): Promise<SettingsWithFile> {
  const text = readSmallFile('--env-file: ', path, bytesMax).replace(/^\uFEFF/, '');
  const isPipe = statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
  // Otherwise the settings of the environment would count, and those might belong to another tenant.
  if (text === '' && isPipe) {
    throw new UsageError(
      `--env-file: ${path} is a pipe that was empty. Either what writes to it failed, or Node.js has read it: start docmirror with "node -- …".`,
    );
  }
  assertLines(path, text);
  const lines = Object.entries(parseEnv(text));
  const said = lines
    .filter(([, value]) => value?.trim() !== '')
    .map(([name, value]) => [name, isPipe ? value : inFolder(dirname(path), name, value ?? '')] as const);
  const inEnvFile = new Set(said.map(([name]) => name));
  const isSettled = (name: string) =>
    alternatives.some(names => names.includes(name) && names.some(each => inEnvFile.has(each)));
  const others = Object.entries(environment).filter(([name]) => !isSettled(name));
  return { inEnvFile, environment: Object.fromEntries([...lines, ...others, ...said]) };
}

const fileVariables: ReadonlySet<string> = new Set([
  ...Object.values(settings).flatMap(({ variable, valueName }) => (valueName === 'FILE' ? [variable] : [])),
  'NODE_EXTRA_CA_CERTS',
]);

/** A relative path, as seen from the folder of the file that names it. Anything that is no path stays as it is. */
function inFolder(folder: string, name: string, value: string): string {
  const isOther = !fileVariables.has(name) || isAbsolute(value) || /^(:memory:$|file:)/.test(value);
  if (isOther || folder === '.') return value;
  const path = `${folder}/${value}`;
  // Somebody might have put the secret itself there.
  const mightBeSecret = /_(TOKEN|KEY|PASSWORD)_FILE$/.test(name) && !isPlainlyPath(value);
  return mightBeSecret && !existsSync(path) ? value : path;
}

/** Groups of variables that set the same thing. If the file sets one of a group, the environment's others are ignored. */
const alternatives = [
  ['DOCMIRROR_TOKEN', 'DOCMIRROR_TOKEN_FILE', 'DOCMIRROR_TOKEN_COMMAND'],
  ['DOCMIRROR_CLICKHOUSE_PASSWORD', 'DOCMIRROR_CLICKHOUSE_PASSWORD_FILE'],
  ['https_proxy', 'HTTPS_PROXY'],
  ['http_proxy', 'HTTP_PROXY'],
  ['no_proxy', 'NO_PROXY'],
];

/** The faults of a line whose values in quotes were replaced by an @ in quotes. */
const faults: readonly [RegExp, string][] = [
  [/^(?!(export\s+)?[A-Za-z_]\w*\s*=)/, 'is not of the form NAME=value.'],
  [
    /=\s*(["'`])(?!@\1)/,
    'has a quote that never ends. Close it; a value that begins with one goes into quotes of another kind.',
  ],
  [/=\s*(["'`])@\1\s*[^\s#]/, 'has something after its quotes, which would be ignored.'],
  [
    /=\s*[^\s"'`].*#/,
    'has a # in its value, which would end it. Put the value in quotes, and a comment on a line of its own.',
  ],
];

/**
 * Refuses lines that Node's own reader skips or cuts: a setting or half a token would be lost. It ends a value at a #, which systemd
 * and Docker keep.
 */
function assertLines(path: string, text: string): void {
  const blank = (_all: string, start: string, quote: string, value: string) =>
    `${start}${quote}@${quote}${value.replace(/[^\n]/g, '')}`;
  const lines = text.replace(/^([^#\n=]*=[^\S\n]*)(["'`])((?:(?!\2)[\s\S])*)\2/gm, blank).split('\n');
  for (const [at, each] of lines.entries()) {
    const line = each.trim();
    const fault = line === '' || line.startsWith('#') ? undefined : faults.find(([form]) => form.test(line));
    if (fault !== undefined) throw new UsageError(`--env-file: line ${at + 1} of ${path} ${fault[1]}`);
  }
}
