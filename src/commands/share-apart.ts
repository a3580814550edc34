import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { DocmirrorError } from '../errors.ts';
import type { MadeShare, ShareOptions } from '../store/copies/share.ts';
import { removeUnfinished } from '../store/file/unfinished.ts';
import type { Failure } from './io.ts';

/** What the process that makes a share is told. */
export type ShareOrder = Omit<ShareOptions, 'signal'>;

/** What it answers. The error itself is for the log. */
export type ShareResult =
  | { readonly made: MadeShare }
  | { readonly failure: Failure; readonly error: unknown };

const script = new URL(`./share-maker${extname(import.meta.filename)}`, import.meta.url);

/**
 * Makes a share as `makeShare` does, in a process of its own: copying a database is one statement, which nothing can interrupt, and a watch
 * answers probes and signals meanwhile. If the signal is aborted, the process is killed at once, and what it wrote is removed.
 */
export async function makeShareApart({ signal, ...order }: ShareOptions): Promise<MadeShare> {
  signal.throwIfAborted();
  const child = fork(script, { serialization: 'advanced' });
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  let result: ShareResult | null = null;
  child.on('message', (message: ShareResult) => {
    result = message;
  });
  try {
    child.send(order satisfies ShareOrder, () => undefined);
    await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  } finally {
    signal.removeEventListener('abort', kill);
  }
  return madeOf(result, order.path, signal);
}

function madeOf(result: ShareResult | null, path: string, signal: AbortSignal): MadeShare {
  if (result === null) removeUnfinished(path);
  if (result !== null && 'made' in result) return result.made;
  signal.throwIfAborted();
  if (result === null)
    throw new DocmirrorError('share_failed', `${path} was not made: its process was ended.`);
  const { code, message, exitCode } = result.failure;
  throw code === 'internal' ? result.error : new DocmirrorError(code, message, { exitCode });
}
