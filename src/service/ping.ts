import request from 'undici/lib/api/api-request.js';
import { codeOf } from '../errors.ts';
import { abortOf, connectTo, type HttpOptions } from './http-client.ts';

/** The most time for a try, in milliseconds: both together 10 s. */
const tryMsMax = 4_900;

/** A message to a monitor of runs, for example healthchecks.io. */
export interface Ping extends Pick<HttpOptions, 'userAgent' | 'proxy'> {
  readonly url: URL;
  /** Sent by POST; null asks by GET. */
  readonly body: string | null;
}

/** Sends a ping, at most twice and within 10 s. It returns null, or why it was not accepted, without the address, which is secret. */
export async function sendPing(ping: Ping): Promise<string | null> {
  const why = await tryOnce(ping);
  return why === null ? null : tryOnce(ping);
}

async function tryOnce(ping: Ping): Promise<string | null> {
  const { url, body, userAgent } = ping;
  const { origin } = url;
  const connection = await connectTo({ ...ping, baseUrl: origin, timeoutMs: tryMsMax, concurrency: 1 });
  const signal = AbortSignal.timeout(tryMsMax);
  const path = `${url.pathname}${url.search}`;
  const ofBody = body !== null && { 'content-type': 'text/plain; charset=utf-8' };
  const headers = { ...ofBody, 'user-agent': userAgent };
  const method = body === null ? 'GET' : 'POST';
  try {
    const asked = request.call(connection, { origin, method, path, headers, body, signal });
    const { statusCode, body: answer } = await Promise.race([asked, abortOf(signal)]);
    // The connection ends well if the answer is read.
    await answer.dump({ limit: 10_000, signal }).catch(() => undefined);
    return statusCode >= 200 && statusCode < 300 ? null : `it was answered ${statusCode}`;
  } catch (error) {
    return signal.aborted ? 'it was not answered in time' : (codeOf(error) ?? 'it could not be sent');
  } finally {
    await connection.destroy().catch(() => undefined);
  }
}
