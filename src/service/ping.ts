import request from 'undici/lib/api/api-request.js';
import { codeOf } from '../errors.ts';
import { abortOf, connectTo, type ProxySetting } from './http-client.ts';

/** The most time for a try, in milliseconds: both together 10 s. */
const tryMsMax = 4_900;

/** Bytes of an answer that are read, so that its connection ends well. */
const answerBytesMax = 10_000;

/** A message to a monitor of runs, for example healthchecks.io. */
export interface Ping {
  readonly url: URL;
  readonly body: string;
  readonly userAgent: string;
  readonly proxy: ProxySetting | null;
}

/**
 * Sends a ping, at most twice and within 10 s in all.
 *
 * @returns null if it was accepted, otherwise the reason, without the address, which is secret.
 */
export async function sendPing(ping: Ping): Promise<string | null> {
  const why = await tryOnce(ping);
  return why === null ? null : tryOnce(ping);
}

async function tryOnce({ url, body, userAgent, proxy }: Ping): Promise<string | null> {
  const connection = await connectTo({ baseUrl: url.origin, timeoutMs: tryMsMax, concurrency: 1, proxy });
  const signal = AbortSignal.timeout(tryMsMax);
  try {
    const asked = request.call(connection, {
      origin: url.origin,
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'user-agent': userAgent },
      body,
      signal,
    });
    const { statusCode, body: answer } = await Promise.race([asked, abortOf(signal)]);
    await answer.dump({ limit: answerBytesMax, signal }).catch(() => undefined);
    return statusCode >= 200 && statusCode < 300 ? null : `it was answered ${statusCode}`;
  } catch (error) {
    return signal.aborted ? 'it was not answered in time' : (codeOf(error) ?? 'it could not be sent');
  } finally {
    await connection.destroy().catch(() => undefined);
  }
}
