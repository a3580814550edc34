import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { programPath } from './program.ts';

/** What a command showed on a terminal. */
export interface Shown {
  readonly code: number;
  /** All of it, as the terminal got it. */
  readonly raw: string;
  /** The texts that stood in lines, also those that others were written over. */
  readonly texts: readonly string[];
  /** The lines that stayed. */
  readonly lines: readonly string[];
}

/** Runs docmirror on a terminal of its own, which `script` makes, to its end. `onShown` is called with all that it has shown so far. */
export async function onTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { columns = 80, cwd = process.cwd(), onShown = (_: string) => {} } = {},
): Promise<Shown> {
  const words = [process.execPath, '--', programPath, ...args].map(
    word => `'${word.replaceAll("'", `'\\''`)}'`,
  );
  const command = `stty cols ${columns}; exec ${words.join(' ')}`;
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
  });
  let raw = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    raw += chunk;
    onShown(raw);
  });
  const [code] = await once(child, 'close');
  const plain = stripVTControlCharacters(raw).replaceAll('\r\n', '\n');
  const lines = plain.split('\n').map(line => line.split('\r').at(-1) as string);
  return { code, raw, texts: plain.split(/[\r\n]/), lines };
}
