/** Error codes as they are written to run records, summaries and logs. */
export type ErrorCode =
  | 'settings'
  | 'mirror_busy'
  | 'mirror_file'
  | 'mirror_too_old'
  | 'upgrade_needed'
  | 'mirror_altered'
  | 'disk_full'
  | 'database_locked'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'redirected'
  | 'refused'
  | 'overloaded'
  | 'server_error'
  | 'timeout'
  | 'network'
  | 'proxy'
  | 'certificate'
  | 'tls'
  | 'token_echoed'
  | 'invalid_response'
  | 'response_too_large'
  | 'pagination_ignored'
  | 'too_many_pages'
  | 'publication_differs'
  | 'cursor_lost'
  | 'share_failed'
  | 'output_failed'
  | 'cancelled'
  | 'deadline'
  | 'token_unavailable'
  | 'internal';

/** The exit codes of the process. Scripts rely on these numbers. A process that a signal ended has 128 plus the signal's number. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  partial: 3,
  difference: 4,
  busy: 11,
  unauthorized: 12,
  sighup: 129,
  sigint: 130,
  sigterm: 143,
} as const;

/** The code of an error of the system or of SQLite, for example ENOENT; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** An expected error: its message is for the user, and it is always shown without a stack trace. */
export class DocmirrorError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }

  /** The exit code of the process when this error ends it. */
  get exitCode(): number {
    return exitCodesOf[this.code] ?? exitCodes.failed;
  }
}

const exitCodesOf: Readonly<Partial<Record<ErrorCode, number>>> = {
  settings: exitCodes.usage,
  mirror_busy: exitCodes.busy,
  unauthorized: exitCodes.unauthorized,
  forbidden: exitCodes.unauthorized,
  publication_differs: exitCodes.difference,
  cursor_lost: exitCodes.difference,
  mirror_altered: exitCodes.difference,
};

/** An unknown or unusable flag or setting; the message names it. */
export class UsageError extends DocmirrorError {
  constructor(message: string, options?: ErrorOptions) {
    super('settings', message, options);
  }
}

/** The token can't be read from the place that the settings name: its file is gone, or its command fails. */
export class TokenUnavailableError extends DocmirrorError {
  constructor(message: string, options?: ErrorOptions) {
    super('token_unavailable', message, options);
  }
}

/** The mirror's file can't be used as it is: missing, damaged, foreign, newer, locked, or the disk is full. */
export class MirrorFileError extends DocmirrorError {
  constructor(message: string, options?: ErrorOptions & { code?: ErrorCode }) {
    super(options?.code ?? 'mirror_file', message, options);
  }
}

/** A file that docmirror does not touch: it is not docmirror's own, or another version of docmirror wrote its format. */
export class RefusedFileError extends MirrorFileError {
  override get exitCode(): number {
    return exitCodes.usage;
  }
}

/** A mirror or share in a format that this docmirror does not read. The file stays as it is; it or docmirror needs an upgrade. */
export class OtherShapeError extends RefusedFileError {
  /** The message without the path, for clients of a server. */
  readonly withoutPath: string;

  /** @param what what the file is, and what to do, in words that follow its path. */
  constructor(path: string, what: string, options?: { code: ErrorCode }) {
    super(`${path} ${what}`, options);
    this.withoutPath = `The mirror ${what}`;
  }
}

/** A copy is damaged, so it was not put in its place. */
export class DamagedCopyError extends MirrorFileError {
  override get exitCode(): number {
    return exitCodes.difference;
  }
}

/** Another program altered what docmirror wrote. A person decides: restore a backup, or rebuild. */
export class MirrorAlteredError extends MirrorFileError {
  /**
   * @param what which file, and which part of it was altered.
   * @param undone what was not done because of that.
   * @param todo what to do, in whole sentences.
   */
  constructor(
    what: string,
    undone = 'Nothing was written',
    todo = '"docmirror verify" names the rows. Restore a backup, or drop what was altered and read all lists again with "docmirror sync --rebuild".',
  ) {
    super(`${what}. ${undone}. ${todo}`, { code: 'mirror_altered' });
  }
}

/** Another run is using this mirror. */
export class MirrorBusyError extends DocmirrorError {
  constructor(message: string) {
    super('mirror_busy', message);
  }
}

/** The service answered with something that can't be used, or did not answer. `retryable` says whether another try might help. */
export class ServiceError extends DocmirrorError {
  readonly retryable: boolean;
  /** How long the service asked docmirror to wait, in milliseconds; null if it did not say. */
  readonly retryAfterMs: number | null;
  /** True if the answer has no items, and either no pagination or an error. Some services answer like this past the end of a list. */
  readonly isBare: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    details: { retryable: boolean; retryAfterMs?: number | null; isBare?: boolean; cause?: unknown },
  ) {
    super(code, message, details.cause === undefined ? undefined : { cause: details.cause });
    this.retryable = details.retryable;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.isBare = details.isBare ?? false;
  }

  /** True if the service refused the token. */
  get refusedToken(): boolean {
    return this.code === 'unauthorized' || this.code === 'forbidden';
  }
}

/** A signal that ends docmirror. */
export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** The run was told to stop: by a signal, or because it took longer than `DOCMIRROR_DEADLINE` allows. */
export class CancelledError extends DocmirrorError {
  readonly by: StopSignal | 'deadline';

  /** @param more further sentences for the message. */
  constructor(by: StopSignal | 'deadline', more = '') {
    const isLate = by === 'deadline';
    const what = isLate ? 'Stopped: it took longer than DOCMIRROR_DEADLINE allows.' : `Stopped by ${by}.`;
    super(isLate ? 'deadline' : 'cancelled', `${what} ${more}`.trimEnd());
    this.by = by;
  }

  override get exitCode(): number {
    return this.by === 'deadline' ? exitCodes.failed : exitCodesOfSignals[this.by];
  }
}

const exitCodesOfSignals: Readonly<Record<StopSignal, number>> = {
  SIGINT: exitCodes.sigint,
  SIGTERM: exitCodes.sigterm,
  SIGHUP: exitCodes.sighup,
};
