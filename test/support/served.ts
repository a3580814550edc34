import { once } from 'node:events';
import { type RunningCli, spawnCli } from './run-cli.ts';
import type { Scene } from './scene.ts';

export const servedToken = 'a-token-of-the-server';

export interface Served extends AsyncDisposable {
  readonly url: string;
  readonly cli: RunningCli;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
}

/** Serves a scene's mirror by the command line, on any free port. */
export async function serveScene(scene: Scene, ...args: string[]): Promise<Served> {
  const token = args.includes('--token-file') ? [] : ['--token', servedToken];
  const cli = spawnCli(['serve', '--port', '0', ...token, ...args], {
    env: { DOCMIRROR_DATABASE: scene.database, DOCMIRROR_LOG_LEVEL: 'warn' },
    // It ends with its test, however long a browser takes for its pages on a busy machine.
    timeoutMs: 300_000,
    ...(scene.program !== undefined && { program: scene.program }),
  });
  const { stdout } = cli.child;
  if (stdout === null) throw new Error('The server has no standard output.');
  const [first] = await once(stdout, 'data');
  const url = String(first).trim().split(' ').at(-1) ?? '';
  return {
    url,
    cli,
    get: (path, headers = {}) =>
      fetch(url + path, { headers: { authorization: `Bearer ${servedToken}`, ...headers } }),
    [Symbol.asyncDispose]: () => cli[Symbol.asyncDispose](),
  };
}
