import type { ErrorCode } from '../errors.ts';

/** The meaning of a status other than 200, and whether another try can help. */
export function meaningOf(status: number): { code: ErrorCode; meaning: string; retryable: boolean } {
  if (status === 401) return { code: 'unauthorized', meaning: 'the token was refused', retryable: false };
  if (status === 403)
    return { code: 'forbidden', meaning: 'the token does not allow this list', retryable: false };
  if (status === 404)
    return { code: 'not_found', meaning: 'there is no page at this address', retryable: false };
  if (status === 408) return { code: 'timeout', meaning: 'the service gave up waiting', retryable: true };
  if (status === 425 || status === 429)
    return { code: 'overloaded', meaning: 'too many requests', retryable: true };
  if (status === 503) return { code: 'overloaded', meaning: 'the service is not available', retryable: true };
  if (status >= 500) return { code: 'server_error', meaning: 'the service failed', retryable: true };
  if (status >= 400) return { code: 'refused', meaning: 'the request was refused', retryable: false };
  // A 304 has no address: it says that an older answer is still valid, and docmirror never names one.
  if (status >= 300 && status !== 304) {
    return {
      code: 'redirected',
      meaning: 'redirects are not followed; name the final address',
      retryable: false,
    };
  }
  return { code: 'invalid_response', meaning: 'a page was expected', retryable: true };
}
