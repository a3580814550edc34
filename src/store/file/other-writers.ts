import type Database from 'better-sqlite3';

/**
 * Finds out whether another program has written to a database since a connection was last asked. What this connection itself writes
 * does not count.
 */
export class OtherWriters {
  readonly #sqlite: Database.Database;
  #version: unknown;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#version = this.#read();
  }

  /** True once for all that others have committed since it was asked before, or since this object was made. */
  haveWritten(): boolean {
    const before = this.#version;
    this.#version = this.#read();
    return this.#version !== before;
  }

  #read(): unknown {
    return this.#sqlite.pragma('data_version', { simple: true });
  }
}
