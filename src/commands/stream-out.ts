import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Texts are gathered up to this length before they are written: a call a line costs more than the line. */
const chunkLength = 64 * 1024;

/**
 * Writes texts as fast as they are taken, however many they are: the part that waits to be written never grows. It ends if nobody takes
 * them any more.
 *
 * @returns how many texts there were until then, and false if nobody took them to the end.
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
      // A pipe that nobody reads can wait for ever; a signal ends that.
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

/** Passes bytes on as fast as they are taken; what waits to be written never grows. If nobody takes them any more, it is done. */
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
