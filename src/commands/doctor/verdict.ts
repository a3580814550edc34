import type { ErrorCode } from '../../errors.ts';
import type { Finding } from '../../render/findings.ts';

/** A finding, and what `sync` would exit with for it; 0 where it would go on. */
export interface Verdict extends Finding {
  readonly exitCode: number;
}

/** It is as a run needs it. */
export function ok(check: string, found: string): Verdict {
  return { check, status: 'ok', found, todo: null, code: null, exitCode: 0 };
}

/** It was not tried; `found` says why. */
export function skipped(check: string, found: string): Verdict {
  return { check, status: 'skipped', found, todo: null, code: null, exitCode: 0 };
}

/** A run goes on, but something should be done. */
export function warning(check: string, found: string, todo: string): Verdict {
  return { check, status: 'warning', found, todo, code: null, exitCode: 0 };
}

/** A run would end here. */
export function failed(
  check: string,
  found: string,
  todo: string | null,
  exitCode: number,
  code: ErrorCode | null = null,
): Verdict {
  return { check, status: 'failed', found, todo, code, exitCode };
}
