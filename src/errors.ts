import advice from './advice.json' with { type: 'json' };

/**
 * Error codes as they are written to run records, summaries and logs. `advice.json` says of each what to do; a command in it has a line of its
 * own, so that it can be completed and copied.
 */
export type ErrorCode = keyof typeof advice;

/** Codes of a service that is slow or, if it gave not one page, down. Then no setting is to blame. */
const ofOutages = ['overloaded', 'server_error', 'timeout', 'network'];
const isDown =
  'Not one page came, so the service is probably down. There is nothing to do here: the mirror stays as it was, and the next run tries again. If this stays, ask who runs the service, and check DOCMIRROR_BASE_URL.';

const isToBeLeftAlone =
  'Wait until the time that the message names, and run again. To let a run wait for so long, set DOCMIRROR_GIVE_UP_AFTER to more.';

/** What the advice on an error depends on besides its code: whether a page of the list came, and whether the service named a time. */
interface Seen {
  readonly hasAnswered?: boolean;
  readonly isLeftAlone?: boolean;
}

/** The advice for a code; null if there is no such code. */
export function adviceOn(
  code: string,
  { hasAnswered = true, isLeftAlone = false }: Seen = {},
): string | null {
  if (isLeftAlone) return isToBeLeftAlone;
  if (!hasAnswered && ofOutages.includes(code)) return isDown;
  return Object.hasOwn(advice, code) ? advice[code as ErrorCode] : null;
}

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

/** What each exit code means. */
export const exitMeanings = {
  0: 'done; every list completed',
  1: 'failed',
  2: "an unknown or unusable flag or setting, or a file that is not docmirror's",
  3: 'partial: a list failed while another did not, records were rejected, removals were withheld, completeness is unproven, or the share could not be made',
  4: 'a difference or an unhealthy state was found',
  11: 'another run is using this mirror',
  12: 'the service refused the token (401 or 403 on every list)',
  129: 'ended by SIGHUP; what was applied stays',
  130: 'ended by SIGINT; what was applied stays',
  143: 'ended by SIGTERM; what was applied stays',
} satisfies Record<(typeof exitCodes)[keyof typeof exitCodes], string>;

/** The code of an error of the system or of SQLite, for example ENOENT; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
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

interface Options extends ErrorOptions {
  /** The exit code of the process when this error ends it; left out: that of the error's code. */
  readonly exitCode?: number;
}

/** An expected error: its message is for the user, and it is always shown without a stack trace. */
export class DocmirrorError extends Error {
  readonly code: ErrorCode;
  readonly exitCode: number;

  constructor(code: ErrorCode, message: string, options: Options = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.exitCode = options.exitCode ?? exitCodesOf[code] ?? exitCodes.failed;
  }
}

/** An unknown or unusable flag or setting; the message names it. */
export class UsageError extends DocmirrorError {
  constructor(message: string) {
    super('settings', message);
  }
}

/** The mirror's file can't be used as it is: missing, damaged, foreign, newer, locked, or the disk is full. */
export class MirrorFileError extends DocmirrorError {
  constructor(message: string, { code = 'mirror_file', ...options }: Options & { code?: ErrorCode } = {}) {
    super(code, message, options);
  }
}

/** A file that docmirror does not touch: it is not docmirror's own, or another version of docmirror wrote its format. */
export class RefusedFileError extends MirrorFileError {
  constructor(message: string, options: { code?: ErrorCode; exitCode?: number } = {}) {
    super(message, { exitCode: exitCodes.usage, ...options });
  }
}

/** A mirror or share in a format that this docmirror does not read. The file stays as it is; a sync or another docmirror is needed. */
export class OtherShapeError extends RefusedFileError {
  /** The message without the path, for clients of a server. */
  readonly withoutPath: string;

  /** @param what what the file is, and what to do, in words that follow its path. */
  constructor(path: string, what: string, options?: { code: ErrorCode; exitCode?: number }) {
    super(`${path} ${what}`, options);
    this.withoutPath = `The mirror ${what}`;
  }
}

/** Another program altered what docmirror wrote: `what` of which file. `undone` and `todo` say what was not done, and what to do. */
export class MirrorAlteredError extends MirrorFileError {
  constructor(
    what: string,
    undone = 'Nothing was written',
    todo = '"docmirror verify" names the rows. Restore a backup, or drop what was altered and read all lists again with "docmirror sync --rebuild".',
  ) {
    super(`${what}. ${undone}. ${todo}`, { code: 'mirror_altered' });
  }
}

interface ServiceDetails extends Options {
  /** False if another try can't help, whatever the code is. */
  readonly retryable: boolean;
  /** How long the service asked docmirror to wait, in milliseconds; null if it did not say. */
  readonly retryAfterMs?: number | null;
  /** The status of the answer, and the form of its `Retry-After`; null if there was none. */
  readonly status?: number | null;
  readonly retryAfter?: 'seconds' | 'date' | 'other' | null;
  /** True if the answer has no items, and either no pagination or an error. Some services answer like this past the end of a list. */
  readonly isBare?: boolean;
  /** True if the client refused to read the answer as HTTP. */
  readonly isUnreadable?: boolean;
  /** If the service wants no requests for longer than the run waits: until when, as an ISO date in UTC. */
  readonly retryAfterUntil?: string | null;
  /** What it did, in words that follow the address, such as `answered 503`; the message if it is left out. */
  readonly what?: string;
  /** The message as it would be of any list: without the path of this one, and without what was tried; the message if it is left out. */
  readonly ofAnyList?: string;
  /** How often a page of a wrong form is asked for while the list has not worked; three times if it is left out. */
  readonly triesMax?: number;
}

/** The service answered with something that can't be used, or did not answer. */
export class ServiceError extends DocmirrorError {
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;
  readonly status: number | null;
  readonly retryAfter: NonNullable<ServiceDetails['retryAfter']> | null;
  readonly isBare: boolean;
  readonly isUnreadable: boolean;
  readonly triesMax: number;
  readonly retryAfterUntil: string | null;
  readonly what: string;
  readonly ofAnyList: string;
  /** True if the service was asked a few times for a page of this size, and a smaller one might come. */
  isOfSize = false;
  /** The whole numbers below 1,000 that a refusal names, the greatest first: one can be the largest page size. */
  numbers: readonly number[] = [];

  constructor(code: ErrorCode, message: string, details: ServiceDetails) {
    super(code, message, details);
    this.retryable = details.retryable;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.status = details.status ?? null;
    this.retryAfter = details.retryAfter ?? null;
    this.isBare = details.isBare ?? false;
    this.isUnreadable = details.isUnreadable ?? false;
    this.triesMax = details.triesMax ?? 3;
    this.retryAfterUntil = details.retryAfterUntil ?? null;
    this.what = details.what ?? message;
    this.ofAnyList = details.ofAnyList ?? message;
  }
}

/** The run was told to stop: by a signal, or because it took longer than `DOCMIRROR_DEADLINE` allows. */
export class CancelledError extends DocmirrorError {
  constructor(by: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'deadline') {
    if (by === 'deadline') super('deadline', 'Stopped: it took longer than DOCMIRROR_DEADLINE allows.');
    else
      super('cancelled', `Stopped by ${by}.`, {
        exitCode: exitCodes[by.toLowerCase() as Lowercase<typeof by>],
      });
  }
}

/** The result of work that is a hint or a courtesy; null if it fails, whatever the reason. */
export function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** Reads data that another program can have damaged; null for text that is no JSON, or JSON of another kind. */
export function tryToRead<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const isSpoilt = [MirrorFileError, SyntaxError, TypeError, RangeError].some(
      kind => error instanceof kind,
    );
    if (!isSpoilt || codeOf(error)?.startsWith('SQLITE_')) throw error;
    return null;
  }
}
