import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const compressed = promisify(gzip);

/**
 * Compresses an answer if its client accepts gzip: every stream, and a text of at least `bytesMin` bytes. Call it last, just before
 * the answer is sent.
 *
 * @returns the payload to send instead of `payload`.
 */
export async function gzipped(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  bytesMin: number,
): Promise<unknown> {
  const isStream = payload instanceof Readable;
  if (!isStream && (typeof payload !== 'string' || Buffer.byteLength(payload) < bytesMin)) return payload;
  const vary = reply.getHeader('vary');
  reply.header('vary', vary === undefined ? 'accept-encoding' : `${vary}, accept-encoding`);
  if (!takesGzip(headers['accept-encoding'])) return payload;
  reply.header('content-encoding', 'gzip').removeHeader('content-length');
  // The callback does nothing, because the reader of the answer gets the stream's error.
  return isStream ? pipeline(payload, createGzip(), () => undefined) : await compressed(payload);
}

/** True if a client accepts gzip with a weight above 0. */
function takesGzip(accepted: string | string[] | undefined): boolean {
  return /(?:^|,)\s*gzip\s*(?:;\s*q=(?:1(?:\.0*)?|0?\.0*[1-9]\d*)\s*)?(?:,|$)/i.test(String(accepted ?? ''));
}
