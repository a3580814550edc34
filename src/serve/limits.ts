/** What one server bears, each with its unit. */
export interface ServerLimits {
  /** A request's line and headers; more is answered with 431. */
  readonly headerBytesMax: number;
  /** More connections than this at once are dropped. */
  readonly connectionsMax: number;
  /** From a request's first byte to its last; longer is answered with 408. */
  readonly requestTimeoutMs: number;
  /** How often connections are looked at for requests that take too long. */
  readonly requestCheckMs: number;
  /** How long a connection may neither send nor take a byte amid an exchange, such as a client that stopped reading. */
  readonly idleTimeoutMs: number;
  /** How long a connection is kept between two requests. */
  readonly keepAliveTimeoutMs: number;
  /** How long closing waits for requests that are being answered. */
  readonly closeGraceMs: number;
  /** Answers that are shorter than this are not compressed. */
  readonly compressedBytesMin: number;
}

/** The limits of `serve` and of the monitor; tests use narrower ones. */
export const defaultLimits: ServerLimits = {
  headerBytesMax: 16 * 1024,
  connectionsMax: 256,
  requestTimeoutMs: 15_000,
  requestCheckMs: 5_000,
  idleTimeoutMs: 30_000,
  keepAliveTimeoutMs: 20_000,
  closeGraceMs: 3_000,
  compressedBytesMin: 1024,
};

/** How the lists are paged: what is served where nothing is asked for, and the most that may be asked for. */
export const paging = {
  pageNoFirst: 1,
  pageNoMax: 2 ** 31,
  pageSizeDefault: 50,
  pageSizeMax: 1_000,
} as const;
