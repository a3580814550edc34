import { CancelledError } from '../errors.ts';
import { makeShare } from '../store/copies/share.ts';
import { failureOf } from './io.ts';
import type { ShareOrder, ShareResult } from './share-apart.ts';

// A process that makes one share for docmirror, which has the mirror's lock meanwhile. It ends when docmirror does.

// The terminal sends them to all processes; docmirror decides.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR1'] as const) process.on(signal, () => undefined);
const leaving = new AbortController();
process.once('disconnect', () => leaving.abort(new CancelledError('SIGTERM')));
process.once('message', async (order: ShareOrder) => {
  const result = await makeShare({ ...order, signal: leaving.signal }).then(
    (made): ShareResult => ({ made }),
    (error): ShareResult => {
      // An error of its own class would lose its members on the way.
      const { code, message, exitCode } = failureOf(error);
      return { failure: { code, message, exitCode }, error };
    },
  );
  if (process.connected) process.send?.(result, () => process.disconnect());
});
