import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

// A service that refuses a page size often names the largest one that it serves. Its words are never shown: they can be an echo of a secret.

/** How much of a refusal's body is read, in bytes, and for how long, in milliseconds. */
const [bodyBytesMax, bodyMsMax] = [16 * 1024, 1_000];
const numbersMax = 8;

const unzip = promisify(gunzip);

interface Body extends AsyncIterable<Uint8Array> {
  destroy(): unknown;
}

/** Reads the numbers that the body of a refusal names, as `numbersIn` does; none if it does not come soon, or is no text. */
export async function numbersOfRefusal(body: Body, headers: IncomingHttpHeaders, status: number) {
  const timer = setTimeout(() => body.destroy(), bodyMsMax);
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= bodyBytesMax) break;
    }
    const received = Buffer.concat(chunks).subarray(0, bodyBytesMax);
    const isPacked = /gzip/i.test(String(headers['content-encoding'] ?? ''));
    const bytes = isPacked ? await unzip(received, { maxOutputLength: bodyBytesMax }) : received;
    return isUtf8(bytes) ? numbersIn(bytes.toString(), status) : [];
  } catch {
    // A refusal needs no body.
    return [];
  } finally {
    clearTimeout(timer);
  }
}

const dateAndTime = /\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?/g;
const range = /(?<![\w.-])(\d{1,3})(?:-|\.{2,3})(?=\d{1,3}(?![\w.-]))/g;
/** A whole number from 1 to 999 that is no part of a word, an address, a fraction, a time or a greater number. */
const numberAlone = /(?<![\w.#/+-])(?<!\d[:,])[1-9]\d{0,2}(?![\w/-]|[.:,]\d)/g;

/** The whole numbers from 1 to 999 in the words of a refusal, but for its status, the greatest first; none in a page for people. */
export function numbersIn(text: string, status: number): number[] {
  if (/^\s*</.test(text)) return [];
  const words = text.replaceAll(dateAndTime, ' ').replaceAll(range, '$1 ');
  const numbers = new Set([...words.matchAll(numberAlone)].map(([digits]) => Number(digits)));
  numbers.delete(status);
  return [...numbers].sort((a, b) => b - a).slice(0, numbersMax);
}
