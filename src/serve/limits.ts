/** The limits of one server, for `serve` and the monitor. Each name has its unit in it. Tests use smaller values. */
export const defaultLimits = {
  /** The size of a request's line and headers; more is answered with 431. */
  headerBytesMax: 16 * 1024,
  /** If more connections than this are open, those that have been idle longest are dropped first. */
  connectionsMax: 256,
  /** From a request's first byte to its last; longer is answered with 408. */
  requestTimeoutMs: 15_000,
  /** How often connections are checked for requests that take too long. */
  requestCheckMs: 5_000,
  /** How long a connection can be silent during an exchange, for example because the client stopped reading. */
  idleTimeoutMs: 30_000,
  /** How long a connection is kept between two requests. */
  keepAliveTimeoutMs: 20_000,
  /** How long closing waits for requests that are being answered. */
  closeGraceMs: 3_000,
  /** Answers that are shorter than this are not compressed. */
  compressedBytesMin: 1024,
};

/** Limits of one server, by their names. */
export type ServerLimits = Readonly<typeof defaultLimits>;

/** The paging of lists: the defaults, and the largest values that a client can ask for. */
export const paging = {
  pageNoFirst: 1,
  pageNoMax: 2 ** 31,
  pageSizeDefault: 50,
  pageSizeMax: 1_000,
} as const;

/** How many changes are served by default, and at most. */
export const changesLimit = { default: 100, max: 1_000 } as const;
