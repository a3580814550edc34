import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const compressed = promisify(gzip);

/**
 * Compresses an answer if its client takes that: a text of at least `bytesMin`, and each stream. It is the last look at an answer
 * before it is sent.
 *
 * @returns what to send in place of `payload`.
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
  // What a stream fails with is told to whoever reads the answer.
  return isStream ? pipeline(payload, createGzip(), () => undefined) : await compressed(payload);
}

/** True if gzip is among the encodings that a client takes, and not with a weight of 0. */
function takesGzip(accepted: string | string[] | undefined): boolean {
  return /(?:^|,)\s*gzip\s*(?:;\s*q=(?:1(?:\.0*)?|0?\.0*[1-9]\d*)\s*)?(?:,|$)/i.test(String(accepted ?? ''));
}
