import { type CliResult, runCli } from './run-cli.ts';
import type { Scene } from './scene.ts';

export const servedToken = 'a-token-of-the-server';

export interface Served extends AsyncDisposable {
  readonly url: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Tells the command to stop, and says how it ended. */
  end(): Promise<CliResult>;
}

/** Serves a scene's mirror by the command line in the test's own process, on any free port. */
export async function serveScene(scene: Scene, ...args: string[]): Promise<Served> {
  const token = args.includes('--token-file') ? [] : ['--token', servedToken];
  const stop = new AbortController();
  const began = Promise.withResolvers<string>();
  const ended = runCli(['serve', '--port', '0', ...token, ...args], {
    env: { DOCMIRROR_DATABASE: scene.database, DOCMIRROR_LOG_LEVEL: 'warn' },
    signal: stop.signal,
    onOutput: began.resolve,
    ...(scene.program !== undefined && { program: scene.program }),
  });
  const refused = ended.then(({ stderr }) => Promise.reject(new Error(`The server ended: ${stderr}`)));
  const first = await Promise.race([began.promise, refused]);
  const url = first.trim().split(' ').at(-1) ?? '';
  const end = () => {
    stop.abort();
    return ended;
  };
  return {
    url,
    get: (path, headers = {}) =>
      fetch(url + path, { headers: { authorization: `Bearer ${servedToken}`, ...headers } }),
    end,
    async [Symbol.asyncDispose]() {
      await end();
    },
  };
}
