/** What one server bears, each with its unit: the limits of `serve` and of the monitor; tests use narrower ones. */
export const defaultLimits = {
  /** A request's line and headers; more is answered with 431. */
  headerBytesMax: 16 * 1024,
  /** More connections than this at once are dropped, those first that have been idle longest. */
  connectionsMax: 256,
  /** From a request's first byte to its last; longer is answered with 408. */
  requestTimeoutMs: 15_000,
  /** How often connections are looked at for requests that take too long. */
  requestCheckMs: 5_000,
  /** How long a connection may neither send nor take a byte amid an exchange, such as a client that stopped reading. */
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

/** How the lists are paged: what is served where nothing is asked for, and the most that may be asked for. */
export const paging = {
  pageNoFirst: 1,
  pageNoMax: 2 ** 31,
  pageSizeDefault: 50,
  pageSizeMax: 1_000,
} as const;

/** How many changes are served where nothing is asked for, and the most that may be asked for. */
export const changesLimit = { default: 100, max: 1_000 } as const;
