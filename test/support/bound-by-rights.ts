import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { programPath } from './program.ts';

const isRoot = process.getuid?.() === 0;

/**
 * How a child is bound by the rights of files and folders: as anybody it is anyway. The superuser gives up the capabilities to
 * write and read everywhere, and stays who it is: another user could not enter a checkout in a folder of its owner's alone.
 */
const bound = isRoot
  ? ['setpriv', '--inh-caps=-all', '--bounding-set=-dac_override,-dac_read_search,-fowner', process.execPath]
  : [process.execPath];

/** The reason why `runBound` cannot work here; null if it can. */
export const whyNotBound: string | null = reason();

function reason(): string | null {
  if (process.platform !== 'linux') return 'only on Linux';
  const tried = access(programPath, 'R_OK');
  if (tried.error !== undefined) return 'setpriv is needed where root runs the tests';
  return tried.status === 0 ? null : 'root can not read the checkout without its capabilities';
}

/** Runs docmirror in a process that the rights of files and folders bind, also if root runs the tests. */
export function runBound(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): SpawnSyncReturns<string> {
  return spawn(['--', programPath, ...args], env);
}

/** Whether a process of `runBound` can write a file. A test that relies on its being bound asks. */
export function mayWriteBound(path: string): boolean {
  return access(path, 'W_OK').status === 0;
}

function access(path: string, right: 'R_OK' | 'W_OK'): SpawnSyncReturns<string> {
  return spawn(['-e', `fs.accessSync(${JSON.stringify(path)}, fs.constants.${right})`]);
}

function spawn(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): SpawnSyncReturns<string> {
  const [program = '', ...before] = bound;
  return spawnSync(program, [...before, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...env },
    timeout: 30_000,
  });
}
