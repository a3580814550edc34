import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Texts are collected up to this length before they are written, because one call for each line is slow. */
const chunkLength = 64 * 1024;

/**
 * Writes texts as fast as the reader takes them. The part that waits to be written never grows. It ends if nobody reads them any more.
 *
 * @returns the number of texts until then, and false if nobody read them to the end.
 */
export async function streamOut(
  stream: NodeJS.WriteStream,
  texts: Iterable<string>,
  signal: AbortSignal,
): Promise<{ readonly textCount: number; readonly isTaken: boolean }> {
  let chunk = '';
  let textCount = 0;
  let isLost = false;
  const lose = () => {
    isLost = true;
  };
  stream.once('error', lose);
  try {
    for (const text of texts) {
      chunk += text;
      textCount++;
      if (chunk.length < chunkLength) continue;
      // A pipe that nobody reads can wait for ever; a signal ends the wait.
      if (!stream.write(chunk)) await once(stream, 'drain', { signal }).catch(() => signal.throwIfAborted());
      else await nextTurn();
      signal.throwIfAborted();
      if (isLost) return { textCount, isTaken: false };
      chunk = '';
    }
    if (chunk !== '') stream.write(chunk);
    // A write that failed is reported on the next turn.
    await nextTurn();
    return { textCount, isTaken: !isLost };
  } finally {
    stream.off('error', lose);
  }
}

/** Passes bytes on as fast as the reader takes them; the waiting part never grows. It ends if nobody reads them any more. */
export async function passOn(
  stream: NodeJS.WriteStream,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  let isLost = false;
  const lose = () => {
    isLost = true;
  };
  stream.once('error', lose);
  try {
    for await (const chunk of chunks) {
      if (!stream.write(chunk)) await once(stream, 'drain', { signal }).catch(() => signal.throwIfAborted());
      if (isLost) return;
    }
  } finally {
    stream.off('error', lose);
  }
}
