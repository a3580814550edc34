import { once } from 'node:events';

/** Waits until a command is told to end. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
